// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package image

import (
	"errors"
	"io"
)

func extract(io.Reader, string) error {
	return errors.New("layers can be unpacked on Linux only")
}

func isOpaque(string) bool { return false }

func flush(string) error { return nil }
