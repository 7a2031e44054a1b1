package onnpu

import (
	"fmt"
	"strings"

	"earshot/npu/graph"
)

// Known is a figure and where it comes from: a section of facts/npu.md or facts/planner.md,
// or that it is assumed. None was measured on a board for earshot.
type Known[T any] struct {
	Value  T      `json:"value"`
	Source string `json:"source"`
}

// Profile is what is published or assumed of a board's NPU.
type Profile struct {
	Board string        `json:"board"`
	SoC   string        `json:"soc"`
	NPU   Known[string] `json:"npu"` // empty: there is none

	BudgetMiB      Known[int] `json:"budget_mib"`      // of what is held at once
	MaxAllocations Known[int] `json:"max_allocations"` // held at once
	MaxOperations  Known[int] `json:"max_operations"`  // of a graph

	BatchMatMul     Known[bool] `json:"batch_matmul"`     // product of two computed tensors
	ComputedWeights Known[bool] `json:"computed_weights"` // of FULLY_CONNECTED and CONV_2D
	Gelu            Known[bool] `json:"gelu"`             // as one operation
	LayerNorm       Known[bool] `json:"layer_norm"`       // as one operation
	InPlace         Known[bool] `json:"in_place"`         // element-wise operations write over their input

	GFLOPS     Known[float64] `json:"gflops"`      // sustained, of products in float16
	DispatchMS Known[float64] `json:"dispatch_ms"` // of a call
	LoadMBs    Known[float64] `json:"load_mb_s"`   // of a compiled graph that is loaded again
	CPUGFLOPS  Known[float64] `json:"cpu_gflops"`  // sustained, of what stays on the CPU
}

const assumed = "assumed"

// Profiles are the boards that earshot knows.
func Profiles() []Profile {
	none := Profile{
		Board: "genio-350", SoC: "MT8365", NPU: Known[string]{"", "npu.md 8: no MDLA, and Neuron is not built for it"},
		CPUGFLOPS: Known[float64]{10, assumed},
	}
	return []Profile{
		none,
		mdla3("genio-510", "MT8370", "one MDLA of up to 700 MHz", 155),
		mdla3("genio-700", "MT8390", "one MDLA of up to 900 MHz, documented as 3.0", 200),
		mdla5("genio-520", "MT8371", "assumed: as for the Genio 720"),
		mdla5("genio-720", "MT8391", "others' Genio 720, npu.md 11: 78.5 ms for tiny's window of 30 s, 36.9 GFLOP"),
		mdla2(),
	}
}

// mdla3 is a board with an MDLA 3.0. The rate of the Genio 510 is that of the 700 by clock.
func mdla3(board, soc, npu string, gflops float64) Profile {
	return Profile{
		Board: board, SoC: soc, NPU: Known[string]{npu, "npu.md 8"},
		BudgetMiB:       Known[int]{64, assumed},
		MaxAllocations:  Known[int]{1000, "assumed: below the usual 1024 descriptors (npu.md 10.2)"},
		MaxOperations:   Known[int]{4500, "npu.md 10.1: a graph of 4500 to 5000 was refused"},
		BatchMatMul:     Known[bool]{false, "npu.md 9.4: not on MDLA 2.0 and 3.0"},
		ComputedWeights: Known[bool]{true, "npu.md 9.1 for MDLA 2.0, with its alignment; assumed for 3.0"},
		Gelu:            Known[bool]{false, "assumed: no delegate of this version maps it (npu.md 9.3)"},
		LayerNorm:       Known[bool]{false, assumed},
		InPlace:         Known[bool]{false, assumed},
		GFLOPS:          Known[float64]{gflops, "assumed: planner.md 1, 0.15 to 0.3 TOP/s on MDLA 3"},
		DispatchMS:      Known[float64]{1, assumed},
		LoadMBs:         Known[float64]{100, assumed},
		CPUGFLOPS:       Known[float64]{20, "assumed: planner.md T11, the lowest"},
	}
}

func mdla2() Profile {
	p := mdla3("genio-1200", "MT8395", "two MDLA 2.0 of up to 960 MHz", 200)
	p.BudgetMiB = Known[int]{128, "assumed: npu.md 10.3, the window for high addresses"}
	p.ComputedWeights.Source = "npu.md 9.1, with its alignment"
	p.GFLOPS.Source = "assumed: as MDLA 3"
	p.CPUGFLOPS = Known[float64]{40, "assumed: four A78, planner.md T11"}
	return p
}

func mdla5(board, soc, rate string) Profile {
	return Profile{
		Board: board, SoC: soc, NPU: Known[string]{"one MDLA 5.3", "npu.md 8"},
		BudgetMiB:       Known[int]{256, assumed},
		MaxAllocations:  Known[int]{1000, "assumed: below the usual 1024 descriptors (npu.md 10.2)"},
		MaxOperations:   Known[int]{4500, "npu.md 10.1: a graph of 4500 to 5000 was refused"},
		BatchMatMul:     Known[bool]{true, "npu.md 9.4; reported to run and to be wrong on a Genio 720 (9.5), so results are checked"},
		ComputedWeights: Known[bool]{true, assumed},
		Gelu:            Known[bool]{true, "assumed: neuron-observed.md 1 for the client"},
		LayerNorm:       Known[bool]{true, "assumed: npu.md 11, MediaTek's converter emits it for the MT8371"},
		InPlace:         Known[bool]{false, assumed},
		GFLOPS:          Known[float64]{470, rate},
		DispatchMS:      Known[float64]{1, assumed},
		LoadMBs:         Known[float64]{100, assumed},
		CPUGFLOPS:       Known[float64]{20, "assumed: planner.md T11, the lowest"},
	}
}

// FindProfile returns the profile of a board or chip.
func FindProfile(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if strings.EqualFold(name, p.Board) || strings.EqualFold(name, p.SoC) {
			return p, nil
		}
		names = append(names, p.Board)
	}
	return Profile{}, fmt.Errorf("no profile of %q; there are %s", name, strings.Join(names, ", "))
}

// Form is how the network's parts are put to this board.
func (p Profile) Form() Form { return Form{Gelu: p.Gelu.Value, LayerNorm: p.LayerNorm.Value} }

// Memory is how its library is assumed to use memory.
func (p Profile) Memory() graph.Memory {
	m := graph.AssumedMemory()
	m.InPlace = p.InPlace.Value
	return m
}

// Budget is what may be held at once.
func (p Profile) Budget() Held { return Held{p.BudgetMiB.Value << 20, p.MaxAllocations.Value} }
