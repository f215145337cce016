/* The peer of `bench names` on NFS exports: calls on names through libnfs's asynchronous interface.
 *
 *   libnfs_names CALL URL FILES DEPTH SECONDS
 *
 * CALL is getattr, lookup or create-remove, which counts each CREATE and each REMOVE. DEPTH calls
 * are always outstanding on one connection. Every reply's status is checked and nothing else is
 * done with it: no times, no statistics. Prints the calls and this process's CPU time from the
 * first call to the last reply.
 *
 * Built by the bench: cc -O2 libnfs_names.c -lnfs
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs.h>

/* In the library, but not in its headers. */
struct nfs_fh { int len; char *val; };
const struct nfs_fh *nfs_get_rootfh(struct nfs_context *nfs);

struct slot {
    uint32_t number;
    int exists;
    char name[32];
};

static struct nfs_context *nfs;
static struct rpc_context *rpc;
static nfs_fh3 root, *handles;
static char (*names)[32];
static unsigned files, outstanding;
static uint64_t done, next_file;
static int stopping, call;
enum { GETATTR, LOOKUP, CREATE_REMOVE };

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void begin(struct slot *slot);

static void replied(struct rpc_context *context, int status, void *data, void *private_data)
{
    struct slot *slot = private_data;
    (void)context;
    if (status != RPC_STATUS_SUCCESS)
        fail("call", status == RPC_STATUS_ERROR ? (char *)data : "cancelled");
    /* Every result starts with its status. */
    if (*(nfsstat3 *)data != NFS3_OK)
        fail("call", nfsstat3_to_str(*(nfsstat3 *)data));
    if (call == CREATE_REMOVE)
        slot->exists = !slot->exists;
    done++;
    outstanding--;
    if (!stopping || slot->exists)
        begin(slot);
}

static void begin(struct slot *slot)
{
    int result;
    uint64_t file = next_file++ % files;
    outstanding++;
    if (call == GETATTR) {
        GETATTR3args arguments = { .object = handles[file] };
        result = rpc_nfs3_getattr_async(rpc, replied, &arguments, slot);
    } else if (call == LOOKUP) {
        LOOKUP3args arguments = { .what = { .dir = root, .name = names[file] } };
        result = rpc_nfs3_lookup_async(rpc, replied, &arguments, slot);
    } else if (slot->exists) {
        REMOVE3args arguments = { .object = { .dir = root, .name = slot->name } };
        result = rpc_nfs3_remove_async(rpc, replied, &arguments, slot);
    } else {
        CREATE3args arguments = { .where = { .dir = root, .name = slot->name } };
        arguments.how.mode = GUARDED;
        arguments.how.createhow3_u.g_obj_attributes.mode.set_it = 1;
        arguments.how.createhow3_u.g_obj_attributes.mode.set_mode3_u.mode = 0644;
        result = rpc_nfs3_create_async(rpc, replied, &arguments, slot);
    }
    if (result != 0)
        fail("begin a call", rpc_get_error(rpc));
}

static void serve(void)
{
    struct pollfd wait = { .fd = nfs_get_fd(nfs), .events = nfs_which_events(nfs) };
    if (poll(&wait, 1, 1000) < 0)
        fail("poll", "failed");
    if (nfs_service(nfs, wait.revents) < 0)
        fail("serve", nfs_get_error(nfs));
}

static nfs_fh3 copied(const struct nfs_fh *handle)
{
    nfs_fh3 copy = { .data = { .data_len = handle->len, .data_val = malloc(handle->len) } };
    memcpy(copy.data.data_val, handle->val, handle->len);
    return copy;
}

int main(int count, char **words)
{
    if (count != 6)
        fail("usage", "libnfs_names CALL URL FILES DEPTH SECONDS");
    call = !strcmp(words[1], "getattr") ? GETATTR : !strcmp(words[1], "lookup") ? LOOKUP : CREATE_REMOVE;
    files = atoi(words[3]);
    unsigned depth = atoi(words[4]);
    double length = atof(words[5]);
    nfs = nfs_init_context();
    struct nfs_url *url = nfs_parse_url_dir(nfs, words[2]);
    if (!url || nfs_mount(nfs, url->server, url->path) < 0)
        fail("mount", nfs_get_error(nfs));
    rpc = nfs_get_rpc_context(nfs);
    root = copied(nfs_get_rootfh(nfs));
    handles = calloc(files, sizeof *handles);
    names = calloc(files, sizeof *names);
    struct slot *slots = calloc(depth, sizeof *slots);
    for (unsigned file = 0; file < files && call != CREATE_REMOVE; file++) {
        struct nfsfh *open;
        snprintf(names[file], sizeof names[file], "libnfs%06u", file);
        if (nfs_creat(nfs, names[file], 0644, &open) < 0)
            fail("create", nfs_get_error(nfs));
        handles[file] = copied(nfs_get_fh(open));
        nfs_close(nfs, open);
    }
    double cpu = cpu_seconds(), start = seconds();
    for (unsigned slot = 0; slot < depth; slot++) {
        snprintf(slots[slot].name, sizeof slots[slot].name, "libnfs%06u", slot);
        begin(&slots[slot]);
    }
    while (seconds() - start < length)
        serve();
    stopping = 1;
    while (outstanding)
        serve();
    cpu = cpu_seconds() - cpu;
    printf("done=%llu seconds=%.6f cpu_seconds=%.6f\n", (unsigned long long)done, seconds() - start, cpu);
    for (unsigned file = 0; file < files && call != CREATE_REMOVE; file++)
        nfs_unlink(nfs, names[file]);
    fflush(stdout);
    /* Unmounting can stall in this library's version. */
    _exit(0);
}
