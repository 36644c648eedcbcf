/*
 * A libnvidia-ml.so.1 without a GPU. It answers from a script, so that the Java binding is tested over the real calling
 * convention: names, structure sizes, version tags, out-parameters.
 *
 * The script is read anew for each call from "<this library's own path>.script", lines of "key=value":
 *
 *     driver=550.54.15
 *     count=2
 *     rc.<function>=<code>                   the function answers with this code
 *     device.<index>.rc.<function>=<code>    the same, for one device
 *     device.<index>.uuid= .name= .pci=      texts
 *     device.<index>.mig=0|1                 without it the mode is not supported
 *     device.<index>.memory=<total>,<reserved>,<used>,<free>
 *     device.<index>.compute=<pid>:<bytes>,...    and .graphics=; bytes "na" is NVML_VALUE_NOT_AVAILABLE
 *     device.<index>.compute.sizing=<n>      what is answered when asked how many; without it, how many there are
 *
 * Each call is appended to "<path>.calls". -DWITHOUT_MEMORY_V2 and -DWITHOUT_PROCESSES_V3 make an older library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUCCESS 0
#define INVALID_ARGUMENT 2
#define NOT_SUPPORTED 3
#define INSUFFICIENT_SIZE 7
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

_Static_assert(sizeof(memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(memory_v1) == 24, "nvmlMemory_t");
_Static_assert(sizeof(pci_info) == 68 && offsetof(pci_info, bus_id) == 36, "nvmlPciInfo_t");
_Static_assert(sizeof(process_info) == 24 && offsetof(process_info, used) == 8, "nvmlProcessInfo_v2_t");

static char handles[64];

static void path(char *out, size_t size, const char *suffix) {
    Dl_info self;
    dladdr((void *) handles, &self);
    snprintf(out, size, "%s%s", self.dli_fname, suffix);
}

/* The value of a key in the script; 0 if it has none. */
static int value(const char *key, char *out, size_t size) {
    char file[4096], line[8192];
    path(file, sizeof file, ".script");
    FILE *script = fopen(file, "r");
    int found = 0;
    while (script && !found && fgets(line, sizeof line, script)) {
        size_t length = strlen(key);
        if (strncmp(line, key, length) == 0 && line[length] == '=') {
            line[strcspn(line, "\n")] = 0;
            snprintf(out, size, "%s", line + length + 1);
            found = 1;
        }
    }
    if (script) fclose(script);
    return found;
}

static int number(const char *key, int otherwise) {
    char text[64];
    return value(key, text, sizeof text) ? atoi(text) : otherwise;
}

static int device_value(int device, const char *field, char *out, size_t size) {
    char key[256];
    snprintf(key, sizeof key, "device.%d.%s", device, field);
    return value(key, out, size);
}

static int code(const char *function) {
    char file[4096], key[256];
    path(file, sizeof file, ".calls");
    FILE *calls = fopen(file, "a");
    if (calls) {
        fprintf(calls, "%s\n", function);
        fclose(calls);
    }
    snprintf(key, sizeof key, "rc.%s", function);
    return number(key, SUCCESS);
}

/* The index behind a handle, and the code this call is to answer. */
static int device_code(void *handle, const char *function, int *index) {
    int all = code(function);
    char key[256];
    ptrdiff_t offset = (char *) handle - handles;
    if (offset < 0 || offset >= (ptrdiff_t) sizeof handles) return INVALID_ARGUMENT;
    *index = (int) offset;
    snprintf(key, sizeof key, "device.%d.rc.%s", *index, function);
    return number(key, all);
}

static int text(int rc, int found, const char *from, char *to, unsigned int length) {
    if (rc) return rc;
    if (!found) return NOT_SUPPORTED;
    if (strlen(from) >= length) return INSUFFICIENT_SIZE;
    strcpy(to, from);
    return SUCCESS;
}

int nvmlInit_v2(void) { return code("nvmlInit_v2"); }

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
    return rc ? rc : text(rc, device_value(index, "name", from, sizeof from), from, name, length);
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned int length) {
    char from[256];
    int index, rc = device_code(device, "nvmlDeviceGetUUID", &index);
    return rc ? rc : text(rc, device_value(index, "uuid", from, sizeof from), from, uuid, length);
}

int nvmlDeviceGetPciInfo_v3(void *device, pci_info *pci) {
    char from[256];
    int index, rc = device_code(device, "nvmlDeviceGetPciInfo_v3", &index);
    memset(pci, 0, sizeof *pci);
    return rc ? rc : text(rc, device_value(index, "pci", from, sizeof from), from, pci->bus_id, sizeof pci->bus_id);
}

int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *pending) {
    char mode[8];
    int index, rc = device_code(device, "nvmlDeviceGetMigMode", &index);
    if (rc) return rc;
    if (!device_value(index, "mig", mode, sizeof mode)) return NOT_SUPPORTED;
    *current = *pending = (unsigned int) atoi(mode);
    return SUCCESS;
}

static int memory(int index, unsigned long long *total, unsigned long long *reserved, unsigned long long *used,
        unsigned long long *free) {
    char from[256];
    if (!device_value(index, "memory", from, sizeof from)) return NOT_SUPPORTED;
    return sscanf(from, "%llu,%llu,%llu,%llu", total, reserved, used, free) == 4 ? SUCCESS : INVALID_ARGUMENT;
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

static int processes(void *device, const char *function, const char *field, unsigned int *count, process_info *infos) {
    char list[8192] = "", sizing[64];
    char key[64];
    unsigned int room = *count, found = 0;
    int index, rc = device_code(device, function, &index);
    if (rc) return rc;
    device_value(index, field, list, sizeof list);
    for (char *entry = strtok(list, ","); entry; entry = strtok(NULL, ",")) {
        char *bytes = strchr(entry, ':') + 1;
        if (infos && found < room) {
            infos[found].pid = (unsigned int) strtoull(entry, NULL, 10);
            infos[found].used = strcmp(bytes, "na") ? strtoull(bytes, NULL, 10) : ~0ULL;
            infos[found].gpu_instance = infos[found].compute_instance = ~0U;
        }
        found++;
    }
    *count = found;
    if (found <= room) return SUCCESS;
    snprintf(key, sizeof key, "%s.sizing", field);
    if (room == 0 && device_value(index, key, sizing, sizeof sizing)) *count = (unsigned int) atoi(sizing);
    return INSUFFICIENT_SIZE;
}

#define PROCESSES(function, field)                                                      \
    int function(void *device, unsigned int *count, process_info *infos) {              \
        return processes(device, #function, field, count, infos);                       \
    }

#ifndef WITHOUT_PROCESSES_V3
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, "compute")
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics")
#endif
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, "compute")
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, "graphics")
