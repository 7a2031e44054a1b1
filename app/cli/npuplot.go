package cli

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"earshot/whisper/onnpu"
)

// The plot's sizes in pixels: the field is where curves are.
const (
	plotWidth, plotHeight = 860, 500
	fieldLeft, fieldRight = 64, 640
	fieldTop, fieldBottom = 40, 424
	labelStep             = 17 // from a curve's name to the next
	longestWindow         = 30 // s
)

// plotColours tell curves apart also for those who see few colours.
var plotColours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#000000", "#8c510a", "#6a3d9a"}

// curve is what a way holds at once over the length of the window, in MiB.
type curve struct {
	way    string
	points [][2]float64
}

// plot draws the curves of all ways against the budget as SVG. The vertical axis is
// logarithmic.
func (r *planReport) plot() string {
	curves := r.curves()
	low, high := plotRange(curves, r.Profile.BudgetMiB.Value)
	x := func(seconds float64) float64 { return fieldLeft + seconds/longestWindow*(fieldRight-fieldLeft) }
	y := func(mib float64) float64 {
		return fieldBottom - (math.Log2(mib)-low)/(high-low)*(fieldBottom-fieldTop)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	text := func(x, y float64, anchor, colour, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, colour, html.EscapeString(s))
	}
	line := func(x1, y1, x2, y2 float64, style string) {
		fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`+"\n", x1, y1, x2, y2, style)
	}
	text(fieldLeft, 22, "start", "#000", fmt.Sprintf("%s on %s: MiB held at once, by way of cutting the encoder (predicted)", r.Model, r.Profile.Board))
	for e := low; e <= high; e++ {
		line(fieldLeft, y(math.Exp2(e)), fieldRight, y(math.Exp2(e)), `stroke="#ddd"`)
		text(fieldLeft-8, y(math.Exp2(e))+4, "end", "#000", fmt.Sprintf("%g", math.Exp2(e)))
	}
	for s := 0.0; s <= longestWindow; s += 5 {
		line(x(s), fieldTop, x(s), fieldBottom, `stroke="#ddd"`)
		text(x(s), fieldBottom+18, "middle", "#000", fmt.Sprintf("%g", s))
	}
	text((fieldLeft+fieldRight)/2, fieldBottom+38, "middle", "#000", "length of the window, seconds")
	fmt.Fprintf(&b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">MiB</text>`+"\n", (fieldTop+fieldBottom)/2)
	if budget := float64(r.Profile.BudgetMiB.Value); budget > 0 {
		line(fieldLeft, y(budget), fieldRight, y(budget), `stroke="#c00" stroke-width="2" stroke-dasharray="7 4"`)
		text(fieldLeft+6, y(budget)-5, "start", "#c00", fmt.Sprintf("budget %g MiB, %s", budget, r.Profile.BudgetMiB.Source))
	}
	labels := plotLabels(curves, y)
	for i, c := range curves {
		colour := plotColours[i%len(plotColours)]
		dash := ""
		if i >= len(plotColours) {
			dash = ` stroke-dasharray="2 3"`
		}
		var points []string
		for _, p := range c.points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(p[0]), y(p[1])))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6"%s/>`+"\n", strings.Join(points, " "), colour, dash)
		last := c.points[len(c.points)-1]
		line(x(last[0])+2, y(last[1]), fieldRight+18, labels[i], fmt.Sprintf(`stroke="%s" stroke-width="0.6"`, colour))
		text(fieldRight+22, labels[i]+4, "start", colour, c.way)
	}
	text(fieldLeft, plotHeight-10, "start", "#555", "Not yet measured on hardware: counted from the graphs, under an assumed way of allocating.")
	b.WriteString("</svg>\n")
	return b.String()
}

// curves are those of ways that have graphs, the highest last point first.
func (r *planReport) curves() (all []curve) {
	for _, row := range r.Plans {
		if row.Calls == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(c curve) bool { return c.way == row.Way })
		if i < 0 {
			i = len(all)
			all = append(all, curve{way: row.Way})
		}
		all[i].points = append(all[i].points, [2]float64{row.WindowS, onnpu.MiB(row.PeakBytes)})
	}
	slices.SortStableFunc(all, func(a, b curve) int {
		return cmp.Compare(b.points[len(b.points)-1][1], a.points[len(a.points)-1][1])
	})
	return all
}

// plotRange is the powers of two between which curves and the budget lie.
func plotRange(curves []curve, budgetMiB int) (low, high float64) {
	least, most := float64(max(1, budgetMiB)), float64(max(1, budgetMiB))
	for _, c := range curves {
		for _, p := range c.points {
			least, most = min(least, p[1]), max(most, p[1])
		}
	}
	return math.Floor(math.Log2(least)), max(math.Floor(math.Log2(least))+1, math.Ceil(math.Log2(most)))
}

// plotLabels is where the names of curves go: beside their ends, moved apart. Curves come
// from the highest to the lowest.
func plotLabels(curves []curve, y func(float64) float64) (at []float64) {
	for i, c := range curves {
		want := y(c.points[len(c.points)-1][1])
		if i > 0 {
			want = max(want, at[i-1]+labelStep)
		}
		at = append(at, want)
	}
	over := 0.0
	if n := len(at); n > 0 {
		over = at[n-1] - fieldBottom
	}
	for i := len(at) - 1; i >= 0 && over > 0; i-- { // from below, as far as the room goes
		limit := fieldBottom - float64(len(at)-1-i)*labelStep
		at[i] = min(at[i], limit)
	}
	return at
}
