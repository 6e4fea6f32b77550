// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package decide

import "time"

// peaks remembers desired counts as long as one of them could still be the greatest of the recent ones: times and
// counts, oldest first, counts strictly falling.
type peaks []peak

type peak struct {
	at    time.Time
	count int32
}

// push adds a count and returns the greatest within the last span.
func (p *peaks) push(now time.Time, count int32, span time.Duration) int32 {
	kept := *p
	for len(kept) > 0 && kept[len(kept)-1].count <= count {
		kept = kept[:len(kept)-1]
	}
	kept = append(kept, peak{at: now, count: count})
	for now.Sub(kept[0].at) >= span && len(kept) > 1 {
		kept = kept[1:]
	}
	*p = kept
	return kept[0].count
}
