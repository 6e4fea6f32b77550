// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package kmeta makes and reads the metadata that controllers put on objects:
// names of children, owner references, labels.
package kmeta

import (
	"crypto/md5" //nolint:gosec // The published names contain MD5; it protects nothing.
	"encoding/hex"
	"strings"
)

const (
	longestName = 63 // a DNS label
	md5Len      = 32
	headLen     = longestName - md5Len
)

// ChildName joins parent and suffix into a name of at most 63 characters.
// Where they are too long, the parent's end is replaced by an MD5 in hex, so
// that different parents keep different children.
func ChildName(parent, suffix string) string {
	if len(parent)+len(suffix) <= longestName {
		return parent + suffix
	}
	if len(suffix) < headLen {
		return parent[:min(len(parent), headLen-len(suffix))] + hash(parent) + suffix
	}
	name := parent[:min(len(parent), headLen)] + hash(parent+suffix)
	name += suffix[:min(len(suffix), longestName-len(name))]
	return strings.TrimRightFunc(name, func(r rune) bool { return !alphanumeric(r) })
}

func hash(s string) string {
	sum := md5.Sum([]byte(s)) //nolint:gosec // See the import.
	return hex.EncodeToString(sum[:])
}

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}
