// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

// Package deck deals weighted splits: each number from 0 to 99 once in a block of a hundred draws, in random order. So
// percents are exact in every block, and yet a client that alternates between two services does not always meet the same one.
package deck

import (
	"math/rand/v2"
	"sync"
)

// size is a whole block; percents are whole numbers.
const size = 100

// Deck is safe for use by many goroutines. The zero value is ready.
type Deck struct {
	mu    sync.Mutex
	left  int
	cards [size]uint8
}

// New returns a full deck.
func New() *Deck { return &Deck{} }

// Draw returns the next number.
func (d *Deck) Draw() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == 0 {
		d.shuffle()
	}
	d.left--
	return int(d.cards[d.left])
}

func (d *Deck) shuffle() {
	for i := range d.cards {
		d.cards[i] = uint8(i)
	}
	rand.Shuffle(size, func(i, j int) { d.cards[i], d.cards[j] = d.cards[j], d.cards[i] })
	d.left = size
}
