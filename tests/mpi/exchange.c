/*
 * One process of a job of five shards, which exchange bytes and sums (support/exchange_case.h).
 *
 *   exchange PEERS                print "shard K DIGEST" for each shard of this process
 *   exchange PEERS fail|die|stop  shard 3 ends with an error, is killed, or sends itself SIGTERM
 *   exchange PEERS wait           shard 0 sleeps for 2 s; print "shard K SECONDS" of CPU
 *   exchange PEERS late           shard 4 comes when the program has said that it waits (file told)
 *   exchange PEERS never          shard 4 never comes, and is waited for 1 s
 *   exchange PEERS twice          open the transport once more when it was closed
 *   exchange PEERS rate MB        print the rates of gathers and folds of so many megabytes
 *
 * PEERS is a word of --peers, or - for none. Ends with the status of the job.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "peers/open.h"
#include "support/exchange_case.h"

static struct ny_context *ctx;
static size_t megabytes;

static void on_term(int number)
{
    ny_context_interrupt(ctx, number);
}

static int fail_shard(void *arg, struct ny_context *peer, unsigned shard)
{
    const char *how = arg;
    int err = NY_OK;

    if (shard == 3 && strcmp(how, "fail") == 0) return ny_fail(peer, NY_EIO, "the disk is full");
    if (shard == 3) kill(getpid(), strcmp(how, "die") == 0 ? SIGKILL : SIGTERM);
    while (!err && shard % 2) /* these compute until they hear of it */
        err = ny_check_interrupt(peer);
    return err ? err : ny_peers_agree(ny_context_peers(peer), 1, "anything");
}

/* Waits for shard 0, which sleeps. */
static int wait_for_first(void *arg, struct ny_context *peer, unsigned shard)
{
    clock_t began = clock();
    int err;

    (void)arg;
    if (shard == 0) sleep(2);
    err = ny_peers_agree(ny_context_peers(peer), 1, "anything");
    printf("shard %u %.2f\n", shard, (double)(clock() - began) / CLOCKS_PER_SEC);
    return err;
}

/* Notes that a long wait was told. */
static void hear_notice(void *user, int level, const char *text)
{
    FILE *told = strstr(text, "has waited") ? fopen("told", "w") : NULL;

    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", text);
    if (told) fclose(told);
}

/* Shard 4 is late, or never comes. */
static int wait_for_last(void *arg, struct ny_context *peer, unsigned shard)
{
    const char *how = arg;
    int err = NY_OK;

    while (shard == 4 && !err && (strcmp(how, "never") == 0 || access("told", F_OK)))
        err = ny_check_interrupt(peer);
    return err ? err : ny_peers_agree(ny_context_peers(peer), 1, "anything");
}

/* Prints MB/s of bytes that a rank has got, and of sums that it has got. */
static int measure(void *arg, struct ny_context *peer, unsigned shard)
{
    struct ny_peers *peers = ny_context_peers(peer);
    unsigned shards = ny_peers_shards(peers);
    size_t count = megabytes * 1000000 / sizeof(double), share = count / shards;
    double *sums = ny_calloc(peer, NY_MEM_OTHER, count, sizeof(double)), began_s, gather_s, fold_s;
    int err = ny_peers_agree(peers, 1, "sizes");

    (void)arg;
    began_s = ny_now();
    if (!err)
        err = ny_peers_gather_equal(peers, sums + shard * share, share * sizeof(double), sums);
    gather_s = ny_now() - began_s;
    began_s = ny_now();
    if (!err) err = ny_peers_fold(peers, sums, count);
    fold_s = ny_now() - began_s;
    if (shard == 0)
        printf("%zu MB: gather %.0f MB/s, fold %.0f MB/s\n", megabytes,
               (double)megabytes / gather_s, (double)megabytes / fold_s);
    ny_free(peer, sums);
    return err;
}

/* Runs what the command line says over the transport. */
static int run(struct ny_transport *transport, int count, char **words)
{
    unsigned ranks = transport ? transport->ranks : 1, rank = transport ? transport->rank : 0;
    bool rates = count > 3 && strcmp(words[2], "rate") == 0;
    unsigned shards = rates ? ranks : CASE_SHARDS;
    struct ny_group_shape shape = ny_group_shape(shards, rank, ranks);
    uint64_t digests[CASE_SHARDS];
    int err;

    megabytes = rates ? strtoul(words[3], NULL, 10) : 0;
    if (rates) return ny_group_run(ctx, &shape, transport, measure, NULL);
    if (count > 2 && strcmp(words[2], "wait") == 0)
        return ny_group_run(ctx, &shape, transport, wait_for_first, NULL);
    if (count > 2 && (strcmp(words[2], "late") == 0 || strcmp(words[2], "never") == 0)) {
        transport->notice_s = 0.2;
        ny_context_set_log(ctx, hear_notice, NULL);
        return ny_group_run(ctx, &shape, transport, wait_for_last, words[2]);
    }
    if (count > 2 && strcmp(words[2], "twice") != 0)
        return ny_group_run(ctx, &shape, transport, fail_shard, words[2]);
    err = ny_group_run(ctx, &shape, transport, case_exchange, digests);
    if (!err && transport && transport->on_host != ranks)
        err = ny_fail(ctx, NY_EINTERNAL, "%u of %u ranks are here", transport->on_host, ranks);
    for (unsigned i = shape.first; i < shape.first + shape.count && !err; i++)
        printf("shard %u %016llx\n", i, (unsigned long long)digests[i]);
    return err;
}

int main(int count, char **words)
{
    struct ny_transport_wish wish = {.shards = CASE_SHARDS, .wait_s = 20};
    struct ny_transport *transport;
    int err;

    if (count < 2 || ny_context_new(&ctx)) return NY_EUSAGE;
    signal(SIGTERM, on_term);
    if (strcmp(words[1], "-") != 0) wish.peers = words[1];
    wish.waits = count > 2 && strcmp(words[2], "never") == 0;
    if (wish.waits) wish.wait_s = 1;
    err = ny_transport_open(&transport, ctx, &wish);
    if (!err) {
        err = run(transport, count, words);
        if (transport) transport->ops->close(transport);
        if (!err && count > 2 && strcmp(words[2], "twice") == 0)
            err = ny_transport_open(&transport, ctx, &wish);
    }
    if (err) fprintf(stderr, "exchange: %s\n", ny_context_message(ctx));
    return err;
}
