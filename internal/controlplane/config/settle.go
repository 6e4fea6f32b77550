// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "time"

// SettleStatus is how long our reconcilers hold back a status that only says that work goes on (docs/adr/0012): a Service that
// starts at once is written once, and one that takes longer says why after half a second.
const SettleStatus = 500 * time.Millisecond
