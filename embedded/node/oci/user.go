// SPDX-FileCopyrightText: The Weir Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	securejoin "github.com/cyphar/filepath-securejoin"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	corev1 "k8s.io/api/core/v1"
)

// ResolveUser finds the identity of a container: its security context, the
// pod's, then the image's user, whose names are looked up in the image's own
// /etc/passwd and /etc/group. An identity that does not exist or that
// runAsNonRoot forbids is ErrConfig.
func ResolveUser(root, imageUser string, pod *corev1.Pod, c *corev1.Container) (specs.User, error) {
	want := identity(pod, c)
	accounts, err := readAccounts(root)
	if err != nil {
		return specs.User{}, err
	}
	user, err := accounts.find(imageUser, want.uid)
	if err != nil {
		return specs.User{}, err
	}
	if want.gid != nil {
		user.GID = *want.gid
	}
	if want.nonRoot && user.UID == 0 {
		return specs.User{}, fmt.Errorf("container has runAsNonRoot and image will run as root: %w", ErrConfig)
	}
	groups := want.groups
	if want.merge {
		groups = append(groups, accounts.groupsOf(user.UID)...)
	}
	groups = append(groups, user.GID)
	slices.Sort(groups)
	user.AdditionalGids = slices.Compact(groups)
	return user, nil
}

type wanted struct {
	uid, gid *uint32
	nonRoot  bool
	groups   []uint32
	merge    bool
}

func identity(pod *corev1.Pod, c *corev1.Container) wanted {
	w := wanted{merge: true}
	if s := pod.Spec.SecurityContext; s != nil {
		w.uid, w.gid = id(s.RunAsUser, w.uid), id(s.RunAsGroup, w.gid)
		w.nonRoot = s.RunAsNonRoot != nil && *s.RunAsNonRoot
		w.merge = s.SupplementalGroupsPolicy == nil || *s.SupplementalGroupsPolicy == corev1.SupplementalGroupsPolicyMerge
		for _, group := range s.SupplementalGroups {
			w.groups = append(w.groups, uint32(group))
		}
		if s.FSGroup != nil {
			w.groups = append(w.groups, uint32(*s.FSGroup))
		}
	}
	if s := c.SecurityContext; s != nil {
		w.uid, w.gid = id(s.RunAsUser, w.uid), id(s.RunAsGroup, w.gid)
		if s.RunAsNonRoot != nil {
			w.nonRoot = *s.RunAsNonRoot
		}
	}
	return w
}

func id(set *int64, otherwise *uint32) *uint32 {
	if set == nil {
		return otherwise
	}
	value := uint32(*set)
	return &value
}

type account struct {
	name     string
	uid, gid uint32
}

type group struct {
	name    string
	gid     uint32
	members []string
}

// accounts are the users and groups that an image knows.
type accounts struct {
	users  []account
	groups []group
}

func readAccounts(root string) (accounts, error) {
	var a accounts
	err := eachLine(root, "/etc/passwd", func(fields []string) {
		uid, uidErr := strconv.ParseUint(field(fields, 2), 10, 32)
		gid, gidErr := strconv.ParseUint(field(fields, 3), 10, 32)
		if uidErr == nil && gidErr == nil {
			a.users = append(a.users, account{name: fields[0], uid: uint32(uid), gid: uint32(gid)})
		}
	})
	if err != nil {
		return accounts{}, err
	}
	err = eachLine(root, "/etc/group", func(fields []string) {
		gid, err := strconv.ParseUint(field(fields, 2), 10, 32)
		if err == nil {
			a.groups = append(a.groups, group{name: fields[0], gid: uint32(gid), members: strings.Split(field(fields, 3), ",")})
		}
	})
	return a, err
}

func field(fields []string, i int) string {
	if i < len(fields) {
		return fields[i]
	}
	return ""
}

func eachLine(root, path string, each func([]string)) error {
	inside, err := securejoin.SecureJoin(root, path)
	if err != nil {
		return fmt.Errorf("resolve %s of the image: %w", path, err)
	}
	file, err := os.Open(inside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s of the image: %w", path, err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			each(strings.Split(line, ":"))
		}
	}
	return nil
}

// find resolves the image's user ("name", "uid", either with ":group"). A uid
// from a security context replaces it, with the group that the image gives it.
func (a accounts) find(imageUser string, uid *uint32) (specs.User, error) {
	if uid != nil {
		return specs.User{UID: *uid, GID: a.primaryGroup(*uid)}, nil
	}
	name, groupName, hasGroup := strings.Cut(imageUser, ":")
	user, err := a.findUser(name)
	if err != nil {
		return specs.User{}, err
	}
	if hasGroup && groupName != "" {
		user.GID, err = a.findGroup(groupName)
	}
	return user, err
}

func (a accounts) findUser(name string) (specs.User, error) {
	if name == "" {
		return specs.User{GID: a.primaryGroup(0)}, nil
	}
	for _, account := range a.users {
		if account.name == name {
			return specs.User{UID: account.uid, GID: account.gid}, nil
		}
	}
	number, err := strconv.ParseUint(name, 10, 31)
	if err != nil {
		return specs.User{}, fmt.Errorf("image's user %q is not in its /etc/passwd: %w", name, ErrConfig)
	}
	return specs.User{UID: uint32(number), GID: a.primaryGroup(uint32(number))}, nil
}

func (a accounts) findGroup(name string) (uint32, error) {
	for _, group := range a.groups {
		if group.name == name {
			return group.gid, nil
		}
	}
	number, err := strconv.ParseUint(name, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("image's group %q is not in its /etc/group: %w", name, ErrConfig)
	}
	return uint32(number), nil
}

func (a accounts) primaryGroup(uid uint32) uint32 {
	for _, account := range a.users {
		if account.uid == uid {
			return account.gid
		}
	}
	return 0
}

func (a accounts) groupsOf(uid uint32) []uint32 {
	var gids []uint32
	for _, account := range a.users {
		if account.uid != uid {
			continue
		}
		for _, group := range a.groups {
			if slices.Contains(group.members, account.name) {
				gids = append(gids, group.gid)
			}
		}
	}
	return gids
}
