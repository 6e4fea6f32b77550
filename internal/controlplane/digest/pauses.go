// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
)

// Pauses remember, by the UID of an object, until when registries are left alone. All methods may be called concurrently.
type Pauses struct {
	until *cache.Expiring
	clock clock.PassiveClock
}

// NewPauses returns none.
func NewPauses(c clock.Clock) *Pauses { return &Pauses{until: cache.NewExpiringWithClock(c), clock: c} }

// Begin leaves registries alone for d.
func (p *Pauses) Begin(uid types.UID, d time.Duration) { p.until.Set(uid, p.clock.Now().Add(d), d) }

// Left is how long that goes on, a second at least; 0 where registries may be asked.
func (p *Pauses) Left(uid types.UID) time.Duration {
	v, ok := p.until.Get(uid)
	if !ok {
		return 0
	}
	until, _ := v.(time.Time)
	return max(until.Sub(p.clock.Now()), time.Second)
}

// End forgets the object.
func (p *Pauses) End(uid types.UID) { p.until.Delete(uid) }
