// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"go.uber.org/zap"
)

// maxBody is the API server's own limit of a request, 3 MiB.
const maxBody = 3 << 20

// readReview reads a review, with a request that check lets pass. What is wrong
// is answered.
func readReview[T any](w http.ResponseWriter, r *http.Request, check func(*T) error) (*T, bool) {
	if contentType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); contentType != "application/json" {
		http.Error(w, "invalid Content-Type, want application/json", http.StatusUnsupportedMediaType)
		return nil, false
	}
	review := new(T)
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(review)
	if err == nil {
		err = check(review)
	}
	if err == nil {
		return review, true
	}
	code := http.StatusBadRequest
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		code = http.StatusRequestEntityTooLarge
	}
	http.Error(w, fmt.Sprintf("could not decode body: %v", err), code)
	return nil, false
}

// writeReview answers with a review.
func writeReview(w http.ResponseWriter, log *zap.SugaredLogger, review any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		log.Warnw("The answer did not reach the API server", zap.Error(err))
	}
}
