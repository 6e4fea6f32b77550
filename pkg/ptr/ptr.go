// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package ptr makes pointers to values, for optional API fields.
package ptr

import "time"

// To returns a pointer to v.
func To[T any](v T) *T { return &v }

// Int32 returns a pointer to v.
func Int32(v int32) *int32 { return &v }

// Int64 returns a pointer to v.
func Int64(v int64) *int64 { return &v }

// Float32 returns a pointer to v.
func Float32(v float32) *float32 { return &v }

// Float64 returns a pointer to v.
func Float64(v float64) *float64 { return &v }

// Bool returns a pointer to v.
func Bool(v bool) *bool { return &v }

// String returns a pointer to v.
func String(v string) *string { return &v }

// Duration returns a pointer to v.
func Duration(v time.Duration) *time.Duration { return &v }

// Time returns a pointer to v.
func Time(v time.Time) *time.Time { return &v }
