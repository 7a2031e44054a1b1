package wave

// noOpus is the error for Ogg Opus where it cannot be decoded.
func noOpus(reason string) error {
	return &FormatError{Found: "Ogg Opus", Reason: "it needs libopusfile, Debian package libopusfile0: " + reason}
}
