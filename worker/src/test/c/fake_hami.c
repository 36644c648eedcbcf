/*
 * A libvgpu.so without a GPU: preloaded into a process, it sets up the region that HAMi-core shares among the processes
 * of a container, in the layout of its version 1.2, so that the offsets in Java are tested against a C compiler's.
 *
 *     CUDA_DEVICE_MEMORY_SHARED_CACHE=<file>    the region; without it the library does nothing
 *     FAKE_HAMI_UUIDS=<uuid>,<uuid>             the devices in it
 *     FAKE_HAMI_USED=<bytes>                    what this process uses on the last of them
 *
 * A thread writes the limit of the last device to "<file>.seen", one line for each change, as a process that is held
 * would see it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEVICES 16
#define PROCESSES 1024
#define MAGIC 19920718

typedef struct {
    uint64_t context, module, data, offset, total, unused[3];
} device_memory;

typedef struct {
    uint64_t decoder, encoder, sm, unused[3];
} device_use;

typedef struct {
    int32_t pid, host_pid;
    device_memory used[DEVICES];
    uint64_t monitored[DEVICES];
    device_use use[DEVICES];
    int32_t status;
    uint64_t sequence, unused[2];
} process_slot;

typedef struct {
    int32_t initialised;
    uint32_t major, minor;
    int32_t sm_initialised;
    size_t owner;
    sem_t lock;
    uint64_t devices;
    char uuids[DEVICES][96];
    uint64_t limit[DEVICES];
    uint64_t sm_limit[DEVICES];
    process_slot processes[PROCESSES];
    int process_count, utilisation_switch, recent_kernel, priority;
    uint64_t last_kernel;
    sem_t after_start;
} region;

_Static_assert(offsetof(region, devices) == 56 && offsetof(region, uuids) == 64, "shared_region_t");
_Static_assert(offsetof(region, limit) == 1600 && offsetof(region, sm_limit) == 1728, "shared_region_t");
_Static_assert(offsetof(region, processes) == 1856 && sizeof(process_slot) == 1960, "shrreg_proc_slot_t");
_Static_assert(sizeof(region) == 2008952, "shared_region_t");

static volatile region *shared;
static char seen[4096];
static int last;

static void *watch(void *unused) {
    (void) unused;
    uint64_t before = UINT64_MAX;
    for (;;) {
        uint64_t now = shared->limit[last];
        if (now != before) {
            FILE *file = fopen(seen, "a");
            fprintf(file, "%llu\n", (unsigned long long) now);
            fclose(file);
            before = now;
        }
        usleep(1000);
    }
    return NULL;
}

__attribute__((constructor)) static void start(void) {
    const char *file = getenv("CUDA_DEVICE_MEMORY_SHARED_CACHE"), *used = getenv("FAKE_HAMI_USED");
    char *uuids = getenv("FAKE_HAMI_UUIDS");
    if (!file || !uuids) return;
    int fd = open(file, O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, sizeof *shared)) abort();
    region *fresh = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fresh == MAP_FAILED) abort();
    char list[4096], *rest = list;
    snprintf(list, sizeof list, "%s", uuids);
    int count = 0;
    for (char *uuid; (uuid = strsep(&rest, ",")) && count < DEVICES; count++)
        snprintf(fresh->uuids[count], sizeof fresh->uuids[count], "%s", uuid);
    fresh->devices = (uint64_t) count;
    last = count - 1;
    fresh->processes[0].pid = getpid();
    fresh->processes[0].used[last].total = used ? strtoull(used, NULL, 10) : 0;
    fresh->major = 1;
    fresh->minor = 2;
    shared = fresh;
    snprintf(seen, sizeof seen, "%s.seen", file);
    fresh->initialised = MAGIC;
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL)) abort();
}
