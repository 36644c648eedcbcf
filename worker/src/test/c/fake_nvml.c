/*
 * A libnvidia-ml.so.1 without a GPU. It answers from a script, so that the Java binding is tested over the real calling
 * convention: names, structure sizes, version tags, out-parameters.
 *
 * The script is "<this library's own path>.json" (fake_script.h says how it is written), or "<path>.script" with the
 * same as lines of "key=value":
 *
 *     driver                     text
 *     count                      how many devices
 *     rc.<function>              the function answers with this code; "hang": it does not come back for as long as the
 *                                script says so
 *     device.<index>.rc.<function>           the same, for one device
 *     device.<index>.uuid .name .pci         texts; with ".hex" behind it, any bytes
 *     device.<index>.mig                     0 or 1; without it the mode is not supported
 *     device.<index>.migmax                  how many MIG instances it may have; those with a UUID exist
 *     device.<index>.mig<place>.<field>      any field of a device, for a MIG instance; and .gi .ci .slices: <gpu>,
 *                                            <compute>,<MiB>
 *     device.<index>.memory                  <total>,<reserved>,<used>,<free>
 *     device.<index>.compute .graphics       <pid>:<bytes>[:<gpu instance>],...; bytes "na" is NVML_VALUE_NOT_AVAILABLE
 *     device.<index>.compute.sizing          what is answered when asked how many; without it, how many there are
 *     device.<index>.limitused               bytes that the processes of any cgroup use of it
 *     limitstep                              limits are rounded up to multiples of so many bytes, as drivers do
 *     event                                  <number>:<index>:<xid>, an Xid error, delivered when the number changes;
 *                                            "storm:<index>:<xid>": again and again. Without it: no events
 *
 * What fake_cuda.c says that this process uses stands in "<path>.json.cuda", and counts more.
 *
 * Each call is appended to "<path>.calls". -DWITHOUT_MEMORY_V2, -DWITHOUT_PROCESSES_V3 and -DWITHOUT_PROCESSES_V2 make
 * an older library, and so does -DWITHOUT_MEMORY_LIMITS. -DBENCH: one script, no log of calls, other memory each time,
 * or with -DSTEADY the same (fake_bench.h).
 */
#define _GNU_SOURCE
#include "fake_script.h"

#include <dlfcn.h>
#include <stddef.h>

#define SUCCESS 0
#define INVALID_ARGUMENT 2
#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define INSUFFICIENT_SIZE 7
#define TIMEOUT 10
#define ARGUMENT_VERSION_MISMATCH 25

typedef struct {
    unsigned int version;
    unsigned long long total, reserved, free, used;
} memory_v2;

typedef struct {
    unsigned long long total, free, used;
} memory_v1;

typedef struct {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
} pci_info;

typedef struct {
    unsigned int pid;
    unsigned long long used;
    unsigned int gpu_instance, compute_instance;
} process_info;

typedef struct {
    unsigned int pid;
    unsigned long long used;
} process_info_v1;

typedef struct {
    unsigned int multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, gpu_slices, compute_slices;
    unsigned long long memory_mib;
} attributes;

typedef struct {
    void *device;
    unsigned long long type, data;
    unsigned int gpu_instance, compute_instance;
} event_data;

_Static_assert(sizeof(process_info_v1) == 16 && sizeof(attributes) == 40 && sizeof(event_data) == 32, "nvml.h");
_Static_assert(sizeof(memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(memory_v1) == 24, "nvmlMemory_t");
_Static_assert(sizeof(pci_info) == 68 && offsetof(pci_info, bus_id) == 36, "nvmlPciInfo_t");
_Static_assert(sizeof(process_info) == 24 && offsetof(process_info, used) == 8, "nvmlProcessInfo_v2_t");

#define DEVICES 64
#define PLACES 8
/* A handle is an address in here: of a device, or of a place for a MIG instance of one. */
static char handles[DEVICES + DEVICES * PLACES];

static void path(char *out, size_t size, const char *suffix) {
    Dl_info self;
    dladdr((void *) handles, &self);
    snprintf(out, size, "%s%s", self.dli_fname, suffix);
}

/* Script of the other kind: the lines as they are. */
static const char *plain_lines(void) {
    static __thread char text[SCRIPT_BYTES];
#ifdef BENCH
    if (*text) return text;
#endif
    char file[4096];
    path(file, sizeof file, ".script");
    return script_load(file, text) ? text : NULL;
}

/* The value of a key in the script; 0 if it has none. */
static int value(const char *key, char *out, size_t size) {
    char file[4096];
#ifdef BENCH
    static __thread const char *known;
    if (!known) {
        path(file, sizeof file, ".json");
        known = script_lines(file) ? script_lines(file) : plain_lines();
    }
    return script_recall(known, key, out, size);
#else
    path(file, sizeof file, ".json");
    const char *lines = script_lines(file);
    int found = script_find(lines ? lines : plain_lines(), key, out, size);
    char used[4096];
    path(file, sizeof file, ".json.cuda");
    if (script_find(script_lines(file), key, used, sizeof used)) {
        snprintf(out, size, "%s", used);
        return 1;
    }
    return found;
#endif
}

static int number(const char *key, int otherwise) {
    char text[64];
    return value(key, text, sizeof text) ? atoi(text) : otherwise;
}

static void device_key(int device, const char *field, char *out, size_t size) {
    if (device < DEVICES)
        snprintf(out, size, "device.%d.%s", device, field);
    else
        snprintf(out, size, "device.%d.mig%d.%s", (device - DEVICES) / PLACES, (device - DEVICES) % PLACES, field);
}

static int device_value(int device, const char *field, char *out, size_t size) {
    char key[256];
    device_key(device, field, key, sizeof key);
    return value(key, out, size);
}

/* The code under this key, once it is one. */
static int settled(const char *key, int otherwise) {
    char text[64];
    while (value(key, text, sizeof text)) {
        if (strcmp(text, "hang")) return atoi(text);
        usleep(10000);
    }
    return otherwise;
}

static int code(const char *function) {
    char key[1300];
#ifndef BENCH
    char file[4096];
    path(file, sizeof file, ".calls");
    FILE *calls = fopen(file, "a");
    if (calls) {
        fprintf(calls, "%s\n", function);
        fclose(calls);
    }
#endif
    script_called(function);
    snprintf(key, sizeof key, "rc.%s", function);
    return settled(key, SUCCESS);
}

/* The index behind a handle, and the code this call is to answer. */
static int device_code(void *handle, const char *function, int *index) {
    ptrdiff_t offset = (char *) handle - handles;
    *index = (int) offset;
#ifdef BENCH
    if (offset >= 0 && offset < DEVICES) return SUCCESS;
#endif
    int all = code(function);
    char key[256], field[128];
    if (offset < 0 || offset >= (ptrdiff_t) sizeof handles) return INVALID_ARGUMENT;
    snprintf(field, sizeof field, "rc.%s", function);
    device_key(*index, field, key, sizeof key);
    return settled(key, all);
}

/* A text, or the bytes that stand there as hexadecimal digits. */
static int device_text(int device, const char *field, char *out, size_t size) {
    char name[64], hex[256];
    snprintf(name, sizeof name, "%s.hex", field);
    if (!device_value(device, name, hex, sizeof hex)) return device_value(device, field, out, size);
    size_t length = 0;
    for (unsigned int byte; length + 1 < size && sscanf(hex + 2 * length, "%2x", &byte) == 1; length++)
        out[length] = (char) byte;
    out[length] = 0;
    return 1;
}

static int device_number(void *device, const char *function, const char *field, unsigned int *out) {
    char from[64];
    int index, rc = device_code(device, function, &index);
    if (rc) return rc;
    if (!device_value(index, field, from, sizeof from)) return NOT_SUPPORTED;
    *out = (unsigned int) atoi(from);
    return SUCCESS;
}

static int text(int rc, int found, const char *from, char *to, unsigned int length) {
    if (rc) return rc;
    if (!found) return NOT_SUPPORTED;
    if (strlen(from) >= length) return INSUFFICIENT_SIZE;
    strcpy(to, from);
    return SUCCESS;
}

int nvmlInit_v2(void) { return code("nvmlInit_v2"); }

int nvmlInitWithFlags(unsigned int flags) {
    (void) flags;
    return code("nvmlInitWithFlags");
}

int nvmlShutdown(void) { return code("nvmlShutdown"); }

const char *nvmlErrorString(int rc) {
    switch (rc) {
        case 3: return "Not Supported";
        case 9: return "Driver Not Loaded";
        case 15: return "GPU is lost";
        case 18: return "Driver/library version mismatch";
        default: return "Some Error";
    }
}

int nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    char from[128];
    int rc = code("nvmlSystemGetDriverVersion");
    return text(rc, value("driver", from, sizeof from), from, version, length);
}

int nvmlDeviceGetCount_v2(unsigned int *count) {
    *count = (unsigned int) number("count", 0);
    return code("nvmlDeviceGetCount_v2");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle) {
    int unused;
    if (index >= (unsigned int) number("count", 0)) return INVALID_ARGUMENT;
    *handle = handles + index;
    return device_code(*handle, "nvmlDeviceGetHandleByIndex_v2", &unused);
}

int nvmlDeviceGetName(void *device, char *name, unsigned int length) {
    char from[256];
    int index, rc = device_code(device, "nvmlDeviceGetName", &index);
    return rc ? rc : text(rc, device_text(index, "name", from, sizeof from), from, name, length);
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length) {
    char from[256];
    int index, rc = device_code(device, "nvmlDeviceGetUUID", &index);
    return rc ? rc : text(rc, device_text(index, "uuid", from, sizeof from), from, uuid, length);
}

int nvmlDeviceGetPciInfo_v3(void *device, pci_info *pci) {
    char from[256];
    int index, rc = device_code(device, "nvmlDeviceGetPciInfo_v3", &index);
    memset(pci, 0, sizeof *pci);
    return rc ? rc : text(rc, device_text(index, "pci", from, sizeof from), from, pci->bus_id, sizeof pci->bus_id);
}

int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *pending) {
    char mode[8];
    int index, rc = device_code(device, "nvmlDeviceGetMigMode", &index);
    if (rc) return rc;
    if (!device_value(index, "mig", mode, sizeof mode)) return NOT_SUPPORTED;
    *current = *pending = (unsigned int) atoi(mode);
    return SUCCESS;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned int *count) {
    return device_number(device, "nvmlDeviceGetMaxMigDeviceCount", "migmax", count);
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned int place, void **mig) {
    char uuid[256];
    int index, rc = device_code(device, "nvmlDeviceGetMigDeviceHandleByIndex", &index);
    if (rc) return rc;
    if (index >= DEVICES || place >= PLACES) return INVALID_ARGUMENT;
    int slice = DEVICES + index * PLACES + (int) place;
    if (!device_value(slice, "uuid", uuid, sizeof uuid)) return NOT_FOUND;
    *mig = handles + slice;
    return SUCCESS;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *mig, void **device) {
    int index, rc = device_code(mig, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", &index);
    if (rc) return rc;
    if (index < DEVICES) return INVALID_ARGUMENT;
    *device = handles + (index - DEVICES) / PLACES;
    return SUCCESS;
}

int nvmlDeviceGetGpuInstanceId(void *mig, unsigned int *id) {
    return device_number(mig, "nvmlDeviceGetGpuInstanceId", "gi", id);
}

int nvmlDeviceGetComputeInstanceId(void *mig, unsigned int *id) {
    return device_number(mig, "nvmlDeviceGetComputeInstanceId", "ci", id);
}

int nvmlDeviceGetAttributes_v2(void *mig, attributes *out) {
    char from[128];
    int index, rc = device_code(mig, "nvmlDeviceGetAttributes_v2", &index);
    if (rc) return rc;
    memset(out, 0, sizeof *out);
    if (!device_value(index, "slices", from, sizeof from)) return NOT_SUPPORTED;
    return sscanf(from, "%u,%u,%llu", &out->gpu_slices, &out->compute_slices, &out->memory_mib) == 3 ? SUCCESS
                                                                                                     : INVALID_ARGUMENT;
}

int nvmlEventSetCreate(void **set) {
    char event[64];
    int rc = code("nvmlEventSetCreate");
    *set = handles;
    return rc ? rc : value("event", event, sizeof event) ? SUCCESS : NOT_SUPPORTED;
}

int nvmlEventSetFree(void *set) {
    (void) set;
    return code("nvmlEventSetFree");
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set) {
    int unused, rc = device_code(device, "nvmlDeviceRegisterEvents", &unused);
    (void) set;
    return rc ? rc : types == 8 ? SUCCESS : NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(void *set, event_data *data, unsigned int timeout) {
    static int delivered;
    char event[64] = "0:0:0";
    int number = 0, device = 0;
    (void) set;
    if (value("rc.nvmlEventSetWait_v2", event, sizeof event)) return code("nvmlEventSetWait_v2");
    for (unsigned int waited = 0; waited < timeout; waited += 10) {
        value("event", event, sizeof event);
        int is_storm = sscanf(event, "storm:%d:%llu", &device, &data->data) == 2;
        int is_one = sscanf(event, "%d:%d:%llu", &number, &device, &data->data) == 3 && number != delivered;
        if (is_storm || is_one) {
            delivered = number;
            data->device = handles + device;
            data->type = 8;
            data->gpu_instance = data->compute_instance = ~0U;
            return SUCCESS;
        }
        usleep(10000);
    }
    return TIMEOUT;
}

#ifdef BENCH
#include "fake_bench.h"
#endif

static int memory(int index, unsigned long long *total, unsigned long long *reserved, unsigned long long *used,
        unsigned long long *free) {
#ifdef BENCH
    unsigned long long *kept[] = {total, reserved, used, free};
    if (bench_memory(index, kept)) return SUCCESS;
#endif
    char from[256];
    if (!device_value(index, "memory", from, sizeof from)) return NOT_SUPPORTED;
    if (sscanf(from, "%llu,%llu,%llu,%llu", total, reserved, used, free) != 4) return INVALID_ARGUMENT;
#ifdef BENCH
    bench_keep_memory(index, kept);
#endif
    return SUCCESS;
}

#ifndef WITHOUT_MEMORY_V2
int nvmlDeviceGetMemoryInfo_v2(void *device, memory_v2 *info) {
    int index, rc = device_code(device, "nvmlDeviceGetMemoryInfo_v2", &index);
    if (rc) return rc;
    if (info->version != (sizeof *info | 2U << 24)) return ARGUMENT_VERSION_MISMATCH;
    return memory(index, &info->total, &info->reserved, &info->used, &info->free);
}
#endif

/* As the real one: what version 2 calls reserved is part of used here. */
int nvmlDeviceGetMemoryInfo(void *device, memory_v1 *info) {
    unsigned long long reserved = 0;
    int index, rc = device_code(device, "nvmlDeviceGetMemoryInfo", &index);
    if (!rc) rc = memory(index, &info->total, &reserved, &info->used, &info->free);
    if (!rc) info->used += reserved;
    return rc;
}

#ifndef WITHOUT_MEMORY_LIMITS
#include "fake_limits.h"
#endif

static int processes(
        void *device, const char *function, const char *field, unsigned int *count, void *infos, int is_v1) {
    char list[16384] = "", sizing[64], key[64];
    unsigned int room = *count, found = 0;
    int index, rc = device_code(device, function, &index);
    char *rest = NULL;
    if (rc) return rc;
#ifdef BENCH
    if (!is_v1 && (rc = bench_processes(index, field, count, infos)) >= 0) return rc;
#endif
    device_value(index, field, list, sizeof list);
    for (char *entry = strtok_r(list, ",", &rest); entry; entry = strtok_r(NULL, ",", &rest)) {
        char *bytes = strchr(entry, ':') + 1, *instance = strchr(bytes, ':');
        unsigned int pid = (unsigned int) strtoull(entry, NULL, 10);
        unsigned long long used = strncmp(bytes, "na", 2) ? strtoull(bytes, NULL, 10) : ~0ULL;
        if (infos && found < room && is_v1) {
            ((process_info_v1 *) infos)[found].pid = pid;
            ((process_info_v1 *) infos)[found].used = used;
        } else if (infos && found < room) {
            unsigned int in = instance ? (unsigned int) atoi(instance + 1) : ~0U;
            ((process_info *) infos)[found] = (process_info){pid, used, in, instance ? 0 : ~0U};
        }
        found++;
    }
    *count = found;
#ifdef BENCH
    if (!is_v1 && found <= room) bench_keep_processes(index, field, found, infos);
#endif
    if (found <= room) return SUCCESS;
    snprintf(key, sizeof key, "%s.sizing", field);
    if (room <= 128 && device_value(index, key, sizing, sizeof sizing)) *count = (unsigned int) atoi(sizing);
    return INSUFFICIENT_SIZE;
}

#define PROCESSES(function, field, is_v1)                                               \
    int function(void *device, unsigned int *count, void *infos) {                      \
        return processes(device, #function, field, count, infos, is_v1);                \
    }

#ifndef WITHOUT_PROCESSES_V3
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, "compute", 0)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics", 0)
#endif
#ifndef WITHOUT_PROCESSES_V2
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, "compute", 0)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, "graphics", 0)
#endif
PROCESSES(nvmlDeviceGetComputeRunningProcesses, "compute", 1)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, "graphics", 1)

/* What gpustat and nvitop ask beside the memory. */
int nvmlDeviceGetIndex(void *device, unsigned int *out) {
    int index, rc = device_code(device, "nvmlDeviceGetIndex", &index);
    if (rc) return rc;
    if (index >= DEVICES) return NOT_SUPPORTED;
    *out = (unsigned int) index;
    return SUCCESS;
}

#define NOT_HERE(function)                                  \
    int function(void *device) {                            \
        int unused, rc = device_code(device, #function, &unused); \
        return rc ? rc : NOT_SUPPORTED;                     \
    }

NOT_HERE(nvmlDeviceGetDecoderUtilization)
NOT_HERE(nvmlDeviceGetEncoderUtilization)
NOT_HERE(nvmlDeviceGetEnforcedPowerLimit)
NOT_HERE(nvmlDeviceGetFanSpeed)
NOT_HERE(nvmlDeviceGetPowerUsage)
NOT_HERE(nvmlDeviceGetProcessUtilization)
NOT_HERE(nvmlDeviceGetTemperature)
NOT_HERE(nvmlDeviceGetUtilizationRates)
