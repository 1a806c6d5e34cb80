/*
 * The peers of one process.
 *
 * A call of a peer is a round: each of the process's peers leaves what it gives and waits; the last
 * one to come speaks for all of them with the other processes, if there are any, and lets the
 * others go on. They then take what belongs to them from where it lies, and meet once more, so that
 * nobody's memory goes while another one reads it. Sums need no copy: each peer adds up a part of
 * the numbers, over all peers of the process, and writes the sum to all of them.
 */
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "peers/group_private.h"
#include "peers/open.h"

enum { NY_SIGNAL_INTERRUPT = 2 };

/* Returns the peer that its context knows by this. */
static struct ny_peer *peer_of(struct ny_peers *base)
{
    return (struct ny_peer *)base;
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Notes the first failure and wakes all; called with the lock. Peers that compute hear an
 * interrupt, and make their checkpoints. */
static void fail_all(struct ny_group *group, int status, const char *message)
{
    if (group->status) return;
    group->status = status;
    snprintf(group->message, sizeof(group->message), "%s", message);
    for (unsigned i = 0; i < group->shape.count; i++)
        ny_context_interrupt(group->peer[i].base.ctx, NY_SIGNAL_INTERRUPT);
    ny_cond_broadcast(&group->changed);
}

/* Tells whether the other processes are to hear at once that this one ends with an error. A
 * transport that ends them does it when the peers here have made their checkpoints. */
static bool abandons_at_once(const struct ny_group *group)
{
    return group->transport && group->transport->ops->lost;
}

/* Says that this peer has ended: with NY_OK, which the others do not hear of, or with an error,
 * whose message the context has. */
static void leave(struct ny_peer *peer, int status)
{
    struct ny_group *group = peer->group;
    const char *message = ny_context_message(peer->base.ctx);
    char named[NY_GROUP_MESSAGE];

    if (!status) return;
    /* No shard alone is to blame, or the message names it. */
    if (peer->heard || status == NY_EUSAGE || status == NY_EBUDGET ||
        strncmp(message, "shard ", 6) == 0)
        snprintf(named, sizeof(named), "%s", message);
    else
        snprintf(named, sizeof(named), "shard %u: %s", peer->base.shard, message);
    ny_mutex_lock(&group->lock);
    while (group->speaking) /* it is the watch, which is quick */
        ny_cond_wait(&group->changed, &group->lock);
    if (!group->status && abandons_at_once(group))
        group->transport->ops->abandon(group->transport, status, named);
    fail_all(group, status, ny_is_interrupt(status) ? message : named);
    ny_mutex_unlock(&group->lock);
}

/* Called with the lock, which it gives back. */
static int hear_of_failure(struct ny_peer *peer)
{
    ny_mutex_unlock(&peer->group->lock);
    return ny_fail(peer->base.ctx, NY_EINTERRUPTED, "another shard of the job has ended");
}

/* ---- the transport, from one thread at a time ----------------------------------------------- */

/* Begins a call of the transport; called with the lock. */
static void begin_speaking(struct ny_group *group)
{
    while (group->speaking)
        ny_cond_wait(&group->changed, &group->lock);
    group->speaking = true;
}

/* Ends it; called with the lock. */
static void end_speaking(struct ny_group *group)
{
    group->speaking = false;
    ny_cond_broadcast(&group->changed);
}

/* Asks the transport once a second, while the peers compute, whether another process has ended.
 * Peers that speak hear of it by themselves. */
static int watch(struct ny_group *group)
{
    const double interval_s = 1;
    struct ny_transport *transport = group->transport;
    double next_s = ny_now() + interval_s;
    int lost;

    ny_mutex_lock(&group->lock);
    while (group->working && !group->status) {
        ny_cond_wait_for(&group->changed, &group->lock, interval_s);
        if (group->speaking || ny_now() < next_s) continue;
        begin_speaking(group);
        ny_mutex_unlock(&group->lock);
        lost = transport->ops->lost(transport);
        ny_mutex_lock(&group->lock);
        end_speaking(group);
        if (lost) fail_all(group, transport->status, transport->why);
        next_s = ny_now() + interval_s;
    }
    ny_mutex_unlock(&group->lock);
    return NY_OK;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* Does what one peer does for all of the process, when all have come. */
static int speak(struct ny_peer *speaker, const size_t *sizes)
{
    struct ny_group *group = speaker->group;
    double began_s;
    int err;

    for (unsigned i = 0; i < group->shape.count; i++)
        if (group->peer[i].kind != speaker->kind || group->peer[i].to != speaker->to ||
            group->peer[i].bytes != speaker->bytes)
            return NY_BUG(speaker->base.ctx);
    if (speaker->kind == NY_ROUND_DEPART) {
        ny_free(group->ctx, group->gathered);
        group->gathered = NULL;
    }
    if (!group->transport || speaker->kind == NY_ROUND_DEPART) return NY_OK;
    ny_mutex_lock(&group->lock);
    begin_speaking(group);
    if (group->status) { /* the watch has ended the job: who waits for this round, has left it */
        end_speaking(group);
        return hear_of_failure(speaker);
    }
    ny_mutex_unlock(&group->lock);
    began_s = ny_now() - group->transport->waited_s;
    err = speaker->kind == NY_ROUND_GATHER ? ny_group_gather_remote(speaker, sizes)
                                           : ny_group_fold_remote(speaker);
    group->network_s += ny_now() - group->transport->waited_s - began_s;
    ny_mutex_lock(&group->lock);
    end_speaking(group);
    ny_mutex_unlock(&group->lock);
    return err;
}

/* Waits until all peers of the process are here, and the last one has spoken for them. */
static int meet(struct ny_peer *peer, const size_t *sizes)
{
    struct ny_group *group = peer->group;
    uint64_t round;
    int err = NY_OK;

    ny_mutex_lock(&group->lock);
    if (group->status && peer->kind != NY_ROUND_DEPART) return hear_of_failure(peer);
    round = group->round;
    if (++group->arrived == group->shape.count) {
        ny_mutex_unlock(&group->lock); /* nobody else is on the way */
        err = speak(peer, sizes);
        if (err) {
            leave(peer, err); /* the others wait for this round */
            return err;
        }
        ny_mutex_lock(&group->lock);
        if (group->status && peer->kind != NY_ROUND_DEPART) return hear_of_failure(peer);
        group->arrived = 0;
        group->round++;
        ny_cond_broadcast(&group->changed);
        ny_mutex_unlock(&group->lock);
        return NY_OK;
    }
    while (group->round == round && (!group->status || peer->kind == NY_ROUND_DEPART))
        ny_cond_wait(&group->changed, &group->lock);
    if (group->round == round) return hear_of_failure(peer);
    ny_mutex_unlock(&group->lock);
    return NY_OK;
}

/* Meets once more, so that what was given may go. All that were let go from the round come here,
 * whatever else has failed meanwhile. */
static int depart(struct ny_peer *peer)
{
    peer->kind = NY_ROUND_DEPART;
    peer->bytes = 0;
    return meet(peer, NULL);
}

static int gather(struct ny_peers *base, enum ny_peers_to who, const void *mine,
                  const size_t *sizes, void *all)
{
    struct ny_peer *peer = peer_of(base);
    const struct ny_group *group = peer->group;
    char *to = who == NY_PEERS_ALL || ny_peers_leads(base) ? all : NULL;
    const char *from;
    size_t at = 0;
    int err;

    peer->kind = NY_ROUND_GATHER;
    peer->to = who;
    peer->mine = mine;
    peer->bytes = 0;
    for (unsigned shard = 0; shard < base->shards; shard++)
        peer->bytes += sizes[shard];
    err = meet(peer, sizes);
    if (err) return err;
    for (unsigned shard = 0; to && shard < base->shards; shard++) {
        from = group->gathered ? group->gathered + at : group->peer[shard].mine;
        if (sizes[shard] && from != to + at) memcpy(to + at, from, sizes[shard]);
        at += sizes[shard];
    }
    return depart(peer);
}

static int fold(struct ny_peers *base, enum ny_peers_to to, double *sums, size_t count)
{
    struct ny_peer *peer = peer_of(base);
    const struct ny_group *group = peer->group;
    unsigned receivers = to == NY_PEERS_ALL ? group->shape.count : 1;
    size_t first, end;
    int err;

    peer->kind = NY_ROUND_FOLD;
    peer->to = to;
    peer->bytes = count * sizeof(*sums);
    peer->sums = sums;
    err = meet(peer, NULL);
    if (err || group->transport) return err ? err : depart(peer);
    first = count / group->shape.count * peer->index;
    end = peer->index + 1 < group->shape.count ? first + count / group->shape.count : count;
    for (size_t i = first; i < end; i++) {
        double sum = group->peer[0].sums[i];

        for (unsigned k = 1; k < group->shape.count; k++)
            sum += group->peer[k].sums[i];
        for (unsigned k = 0; k < receivers; k++)
            group->peer[k].sums[i] = sum;
    }
    return depart(peer);
}

static const struct ny_peers_ops ops = {gather, fold};

/* ---- the group ------------------------------------------------------------------------------ */

/* Hands a peer's words to the caller: all of the first peer, and of the others the warnings that
 * nobody has said yet. */
static void tell(void *user, int level, const char *text)
{
    struct ny_peer *peer = user;
    struct ny_group *group = peer->group;
    uint64_t digest = ny_checksum(text, strlen(text));
    bool known = false, warning = level <= NY_LOG_WARNING;

    ny_mutex_lock(&group->lock);
    for (size_t i = 0; i < group->told_count; i++)
        known = known || group->told[i] == digest;
    if (warning && !known && group->told_count < NY_GROUP_TOLD)
        group->told[group->told_count++] = digest;
    ny_mutex_unlock(&group->lock);
    if (warning ? !known : peer->index == 0 && group->shape.first == 0)
        ny_log(group->ctx, level, "%s", text);
}

static int open_peer(struct ny_peer *peer, struct ny_group *group, unsigned index, size_t memory)
{
    int err;

    peer->base.ops = &ops;
    peer->base.shard = group->shape.first + index;
    peer->base.shards = group->shape.shards;
    if (group->transport) peer->base.network_s = &group->network_s;
    peer->group = group;
    peer->index = index;
    err = ny_context_new_child(&peer->base.ctx, group->ctx, group->shape.count, memory);
    if (err)
        return ny_fail(group->ctx, err, "no memory for the contexts of %u shards",
                       group->shape.count);
    ny_context_set_log(peer->base.ctx, tell, peer);
    ny_context_set_peers(peer->base.ctx, &peer->base);
    if (peer->base.shard) ny_context_set_progress(peer->base.ctx, NULL, NULL);
    return NY_OK;
}

/* Runs one peer, from its thread; the thread after the last peer's watches the transport. */
static int run_peer(void *arg, unsigned index)
{
    struct ny_group *group = arg;
    struct ny_peer *peer = &group->peer[index];
    int err;

    if (index == group->shape.count) return watch(group);
    err = group->work(group->arg, peer->base.ctx, group->shape.first + index);
    leave(peer, err);
    ny_mutex_lock(&group->lock);
    group->working--;
    ny_cond_broadcast(&group->changed);
    ny_mutex_unlock(&group->lock);
    return err;
}

/* Runs the peers, and the watch over the other processes. */
static int run_peers(struct ny_group *group)
{
    struct ny_transport *transport = group->transport;
    unsigned watches = transport && transport->ops->lost ? 1 : 0;
    int err;

    group->working = group->shape.count;
    if (transport) ny_transport_attach(transport, group->ctx);
    err = ny_parallel_all(group->ctx, group->shape.count + watches, run_peer, group);
    if (transport) ny_transport_attach(transport, NULL);
    if (group->status) err = ny_fail(group->ctx, group->status, "%s", group->message);
    if (err && transport && !abandons_at_once(group))
        transport->ops->abandon(transport, err, ny_context_message(group->ctx));
    return err;
}

/* Returns the memory of each peer of this process: its share of the budget, which is half of what
 * is free on the machine unless somebody has set it, and then shared with the ranks beside this
 * one. Of a budget that is lent some, too little for any plan, by which plans tell it. */
static size_t memory_of_peer(const struct ny_group *group)
{
    const struct ny_transport *transport = group->transport;
    size_t ranks = transport && transport->on_host ? transport->on_host : 1, share;

    if (!ny_context_memory_is_default(group->ctx)) ranks = 1;
    share = ny_memory_left(group->ctx) / ranks / group->shape.count;
    if (share < NY_LOAN_BYTES_MIN && ny_memory_lent(group->ctx)) share = NY_LOAN_BYTES_MIN;
    return share;
}

static int open_peers(struct ny_group *group)
{
    unsigned count = group->shape.count;
    int err = NY_OK;

    group->peer = ny_calloc(group->ctx, NY_MEM_OTHER, count, sizeof(*group->peer));
    if (!group->peer) return NY_EBUDGET;
    for (unsigned i = 0; i < count && !err; i++)
        err = open_peer(&group->peer[i], group, i, memory_of_peer(group));
    return err;
}

int ny_group_run(struct ny_context *ctx, const struct ny_group_shape *shape,
                 struct ny_transport *transport, ny_group_fn *work, void *arg)
{
    struct ny_group group = {
        .ctx = ctx, .shape = *shape, .transport = transport, .work = work, .arg = arg};
    size_t reserved = transport ? NY_TRANSPORT_BYTES : 0;
    int err = ny_reserve(ctx, NY_MEM_PROCESS, reserved);

    if (err) {
        if (transport) transport->ops->abandon(transport, err, ny_context_message(ctx));
        return err;
    }
    ny_mutex_init(&group.lock);
    ny_cond_init(&group.changed);
    err = open_peers(&group);
    if (!err)
        err = run_peers(&group);
    else if (transport)
        transport->ops->abandon(transport, err, ny_context_message(ctx));
    for (unsigned i = 0; i < shape->count && group.peer; i++)
        ny_context_free(group.peer[i].base.ctx);
    ny_free(ctx, group.gathered);
    ny_free(ctx, group.peer);
    ny_cond_release(&group.changed);
    ny_mutex_release(&group.lock);
    ny_unreserve(ctx, NY_MEM_PROCESS, reserved);
    return err;
}

int ny_group_take_turns(struct ny_context *ctx, const struct ny_group_shape *shape,
                        struct ny_transport *transport, ny_group_fn *work, void *arg)
{
    struct ny_group_shape one = {shape->shards, shape->first, 1};
    int err = NY_OK;

    for (; !err && one.first < shape->first + shape->count; one.first++)
        err = transport ? ny_group_run(ctx, &one, transport, work, arg) : work(arg, ctx, one.first);
    return err;
}
