// Package disktest gives tests small disks and folders that nobody can write to. Both
// are mounts, which takes root; where they cannot be made the test is skipped.
package disktest

import (
	"os"
	"syscall"
	"testing"
)

// Small is the folder of a disk of a few megabytes, as in "16m".
func Small(t testing.TB, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// ReadOnly makes a folder that nobody can write to, not even root, until writable is
// called.
func ReadOnly(t testing.TB, dir string) (writable func()) {
	t.Helper()
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("a read-only folder cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	again := func(how uintptr) error { return syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|how, "") }
	if err := again(syscall.MS_RDONLY); err != nil {
		t.Skipf("a folder cannot be made read-only here: %v", err)
	}
	return func() {
		t.Helper()
		if err := again(0); err != nil {
			t.Fatal(err)
		}
	}
}

// Fill writes into a file until the disk is full, and takes nothing back.
func Fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if n, err := f.Write(make([]byte, size)); err != nil && n == 0 {
			size /= 2
		}
	}
}
