/*
 * A libcuda.so.1 without a GPU, as far as Ullage calls it through JCuda. Its devices are those of the fake NVML; it
 * answers from the same script (fake_script.h), whose path is in the environment: FAKE_CUDA_SCRIPT. Of it, it reads
 *
 *     cuda.order                 the NVML index of each device, in CUDA's order: "102"; without it, "0"
 *     cuda.rc.<function>         the function answers with this code; "hang": it does not come back
 *     cuda.integrated            whether the devices use the host's memory
 *     cuda.context               bytes that a context costs
 *     cuda.percent               how much of an allocation is seen as used, else 100
 *     cuda.hidden                1: what this process uses is not for the fake NVML to see. Else it stands in
 *                                "<script>.cuda" for as long as there is a context
 *     device.<index>.uuid .memory
 */
#include "fake_script.h"

#include <stdint.h>

#define INVALID_DEVICE 101
#define INVALID_CONTEXT 201
#define ATTRIBUTE_INTEGRATED 18

/* The one context, on which device, and what is allocated in it. */
static int current = -1;
static long long allocated;

static int value(const char *key, char *out, size_t size) {
    const char *file = getenv("FAKE_CUDA_SCRIPT");
    return file ? script_find(script_lines(file), key, out, size) : 0;
}

static long long number(const char *key, long long otherwise) {
    char text[64];
    return value(key, text, sizeof text) ? strtoll(text, NULL, 10) : otherwise;
}

static int code(const char *function) {
    char key[128], text[64];
    snprintf(key, sizeof key, "cuda.rc.%s", function);
    script_called(function);
    while (value(key, text, sizeof text)) {
        if (strcmp(text, "hang")) return atoi(text);
        usleep(10000);
    }
    return 0;
}

static int order(char *out, size_t size) {
    if (!value("cuda.order", out, size)) snprintf(out, size, "0");
    return (int) strlen(out);
}

/* A value of the device with this ordinal. */
static int device_value(int ordinal, const char *field, char *out, size_t size) {
    char digits[64], key[64];
    if (ordinal < 0 || ordinal >= order(digits, sizeof digits)) return 0;
    snprintf(key, sizeof key, "device.%c.%s", digits[ordinal], field);
    return value(key, out, size);
}

static long long total(int ordinal) {
    char memory[256];
    return device_value(ordinal, "memory", memory, sizeof memory) ? strtoll(memory, NULL, 10) : 0;
}

int cuInit(unsigned int flags) {
    (void) flags;
    return code("cuInit");
}

int cuDeviceGetCount(int *count) {
    char digits[64];
    *count = order(digits, sizeof digits);
    return code("cuDeviceGetCount");
}

int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return code("cuDeviceGet");
}

int cuDeviceGetUuid(void *out, int device) {
    char uuid[128] = "";
    int length = 0;
    if (!device_value(device, "uuid", uuid, sizeof uuid)) return INVALID_DEVICE;
    memset(out, 0, 16);
    for (const char *c = strchr(uuid, '-') ? strchr(uuid, '-') + 1 : uuid; *c && length < 32; c++) {
        if (*c == '-') continue;
        unsigned int digit = 0;
        sscanf((char[]){*c, 0}, "%x", &digit);
        ((uint8_t *) out)[length / 2] |= (uint8_t) (digit << (length % 2 ? 0 : 4));
        length++;
    }
    return code("cuDeviceGetUuid");
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void) device;
    *value = attribute == ATTRIBUTE_INTEGRATED ? (int) number("cuda.integrated", 0) : 0;
    return code("cuDeviceGetAttribute");
}

/* CUDA's total is without what the driver keeps. */
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = (size_t) number("cuda.total", total(device));
    return code("cuDeviceTotalMem");
}

/* Says how much this process uses, for whoever reads the script as the fake NVML. */
static void use(void) {
    char file[4096], next[4200], digits[64];
    const char *script = getenv("FAKE_CUDA_SCRIPT");
    if (!script || number("cuda.hidden", 0)) return;
    snprintf(file, sizeof file, "%s.cuda", script);
    if (current < 0) {
        unlink(file);
        return;
    }
    order(digits, sizeof digits);
    snprintf(next, sizeof next, "%s.next", file);
    FILE *used = fopen(next, "w");
    if (!used) return;
    long long bytes = number("cuda.context", 0) + allocated * number("cuda.percent", 100) / 100;
    fprintf(used, "{\"device.%c.compute\": \"%d:%lld\"}\n", digits[current], (int) getpid(), bytes);
    fclose(used);
    rename(next, file);
}

int cuCtxCreate_v2(void **context, unsigned int flags, int device) {
    int rc = code("cuCtxCreate");
    (void) flags;
    if (rc) return rc;
    current = device;
    use();
    *context = &current;
    return 0;
}

int cuCtxDestroy_v2(void *context) {
    (void) context;
    current = -1;
    allocated = 0;
    use();
    return code("cuCtxDestroy");
}

int cuMemGetInfo_v2(size_t *free, size_t *all) {
    int rc = code("cuMemGetInfo");
    if (rc || current < 0) return rc ? rc : INVALID_CONTEXT;
    *all = (size_t) number("cuda.total", total(current));
    *free = *all - (size_t) (number("cuda.context", 0) + allocated);
    return 0;
}

int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes) {
    int rc = code("cuMemAlloc");
    if (rc) return rc;
    allocated += (long long) bytes;
    use();
    *pointer = bytes;
    return 0;
}

int cuMemFree_v2(unsigned long long pointer) {
    allocated -= (long long) pointer;
    use();
    return code("cuMemFree");
}
