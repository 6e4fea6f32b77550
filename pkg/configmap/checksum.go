// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package configmap

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
)

const (
	// ExampleKey is the key whose value documents a ConfigMap and is never read.
	ExampleKey = "_example"
	// ExampleChecksumAnnotation holds the Checksum of the example, so that an
	// edit of the example, likely meant as configuration, can be refused.
	ExampleChecksumAnnotation = "knative.dev/example-checksum"
)

var newlines = regexp.MustCompile(`[\r\n]+`)

// Checksum is the CRC-32 (IEEE, 8 hexadecimal digits) of the trimmed value
// with each run of newlines replaced by the two characters \n.
func Checksum(value string) string {
	canonical := newlines.ReplaceAllString(strings.TrimSpace(value), `\n`)
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(canonical)))
}
