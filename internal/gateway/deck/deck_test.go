// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package deck

import (
	"sync"
	"testing"
)

func TestEachCardOncePerBlock(t *testing.T) {
	d := New()
	var first [size]int
	for block := range 20 {
		var seen [size]int
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range size / 4 {
					card := d.Draw()
					mu.Lock()
					seen[card]++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		for card, n := range seen {
			if n != 1 {
				t.Fatalf("block %d: card %d came %d times", block, card, n)
			}
		}
	}
	for i := range first {
		first[i] = d.Draw()
	}
	same := 0
	for i := range first {
		if d.Draw() == first[i] {
			same++
		}
	}
	if same > size/2 {
		t.Errorf("two blocks agree at %d places", same)
	}
}

func BenchmarkDraw(b *testing.B) {
	d := New()
	b.ReportAllocs()
	for b.Loop() {
		d.Draw()
	}
}
