package cpu

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// tree is a set of files as the kernel shows them.
type tree map[string]string

func (t tree) allow(list string) tree {
	t["proc/self/status"] = "Name:\tearshot\nCpus_allowed:\tff\nCpus_allowed_list:\t" + list + "\nMems_allowed:\t1\n"
	return t
}

// with sets a file of every CPU.
func (t tree) with(file string, values ...string) tree {
	for i, v := range values {
		t[fmt.Sprintf("sys/devices/system/cpu/cpu%d/%s", i, file)] = v + "\n"
	}
	return t
}

func (t tree) file(name, text string) tree {
	t[name] = text
	return t
}

func (t tree) write(tt *testing.T) machine {
	root := tt.TempDir()
	for name, text := range t {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tt.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			tt.Fatal(err)
		}
	}
	return machine{root}
}

func TestTopology(t *testing.T) {
	six55 := []string{"282", "282", "282", "282", "282", "282", "1024", "1024"}
	midr := slices.Repeat([]string{"0x00000000411fd050"}, 8)
	for _, c := range []struct {
		name    string
		tree    tree
		cores   []int
		threads int
	}{
		{"Genio 700, two A78 and six A55", tree{}.allow("0-7").with("cpu_capacity", six55...), []int{6, 7}, 2},
		{"Genio 700 without capacities", tree{}.allow("0-7").with("regs/identification/midr_el1", midr...).
			with("cpufreq/cpuinfo_max_freq", "2000000", "2000000", "2000000", "2000000", "2000000", "2000000", "2200000", "2200000"), []int{6, 7}, 2},
		{"Genio 700, bound to small cores", tree{}.allow("1-3").with("cpu_capacity", six55...), []int{1, 2, 3}, 3},
		{"Genio 1200, four A78 and four A55", tree{}.allow("0-7").with("cpu_capacity", "308", "308", "308", "308", "1024", "1024", "1024", "1024"), []int{4, 5, 6, 7}, 4},
		{"Genio 350, four A53", tree{}.allow("0-3").with("cpu_capacity", "1024", "1024", "1024", "1024"), []int{0, 1, 2, 3}, 4},
		{"Genio 350 that shows nothing", tree{}.allow("0-3"), []int{0, 1, 2, 3}, 4},
		{"one core faster than its neighbours", tree{}.allow("0-3").with("cpu_capacity", "250", "870", "870", "1024"), []int{1, 2, 3}, 3},
		{"virtual machine with two cores", tree{}.allow("0-1").with("topology/thread_siblings_list", "0", "1"), []int{0, 1}, 2},
		{"laptop, neighbours share a core", tree{}.allow("0-3").with("topology/thread_siblings_list", "0-1", "0-1", "2-3", "2-3").
			with("cpufreq/cpuinfo_max_freq", "5100000", "5100000", "4700000", "4700000"), []int{0, 2}, 2},
		{"laptop, the second half shares", tree{}.allow("0-7").with("topology/thread_siblings_list", "0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"), []int{0, 1, 2, 3}, 4},
		{"laptop, bound to second threads", tree{}.allow("4-5,7").with("topology/thread_siblings_list", "0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"), []int{4, 5, 7}, 3},
		{"quota, version 2", tree{}.allow("0-7").file("proc/self/cgroup", "0::/system.slice/earshot.service\n").
			file("sys/fs/cgroup/system.slice/earshot.service/cpu.max", "250000 100000\n"), []int{0, 1, 2, 3, 4, 5, 6, 7}, 3},
		{"quota of a slice around it", tree{}.allow("0-7").file("proc/self/cgroup", "0::/system.slice/earshot.service\n").
			file("sys/fs/cgroup/system.slice/earshot.service/cpu.max", "max 100000\n").
			file("sys/fs/cgroup/system.slice/cpu.max", "50000 100000\n"), []int{0, 1, 2, 3, 4, 5, 6, 7}, 1},
		{"quota, version 1", tree{}.allow("0-3").file("proc/self/cgroup", "4:memory:/a\n2:cpu,cpuacct:/docker/1\n0::/\n").
			file("sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "200000\n").
			file("sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n"), []int{0, 1, 2, 3}, 2},
		{"no quota, version 1", tree{}.allow("0-3").file("proc/self/cgroup", "2:cpu,cpuacct:/\n").
			file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n").
			file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"), []int{0, 1, 2, 3}, 4},
		{"nonsense", tree{}.allow("0-3,x,9-,-2,7-5").with("cpu_capacity", "a", "", "-5", "0").
			file("proc/self/cgroup", "::\n0::\n0::../..\n").file("sys/fs/cgroup/cpu.max", "0 0\n"), []int{0, 1, 2, 3}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := c.tree.write(t)
			if got := m.cores(); !slices.Equal(got, c.cores) {
				t.Errorf("cores %v, want %v", got, c.cores)
			}
			if got := m.threads(); got != c.threads {
				t.Errorf("%d threads, want %d", got, c.threads)
			}
		})
	}
}

func TestTopologyHere(t *testing.T) {
	n, cores := Threads(), Cores()
	t.Logf("%d threads, cores %v of %d", n, cores, runtime.NumCPU())
	if n < 1 || n > len(cores) || len(cores) > runtime.NumCPU() {
		t.Errorf("%d threads on cores %v of %d", n, cores, runtime.NumCPU())
	}
	if got := (machine{t.TempDir()}).threads(); got != runtime.NumCPU() {
		t.Errorf("%d threads where nothing can be read, want %d", got, runtime.NumCPU())
	}
}
