/*
 * A libcuda.so.1 without a GPU, as far as Ullage calls it through JCuda. Its devices are those of the fake NVML, told by
 * the environment:
 *
 *     FAKE_CUDA_ORDER=<digits>       the NVML index of each device, in CUDA's order; without it, "0"
 *     FAKE_CUDA_INIT=<code>          what cuInit answers, else 0
 *     FAKE_CUDA_INTEGRATED=0|1       whether the device uses the host's memory
 *     FAKE_CUDA_SCRIPT=<file>        a script of the fake NVML: a context adds "device.0.compute=<this process>:<bytes>"
 *     FAKE_CUDA_CONTEXT=<bytes>      what a context costs
 *     FAKE_CUDA_ALLOCATION_PERCENT=<n>  how much of an allocation is seen as used, else 100
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTRIBUTE_INTEGRATED 18

static const unsigned char uuid[16] = {0, 0, 0, 0, 0x11, 0x11, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0};

static const char *order(void) {
    const char *text = getenv("FAKE_CUDA_ORDER");
    return text ? text : "0";
}

static long setting(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

int cuInit(unsigned int flags) {
    (void) flags;
    return (int) setting("FAKE_CUDA_INIT");
}

int cuDeviceGetCount(int *count) {
    *count = (int) strlen(order());
    return 0;
}

int cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return 0;
}

int cuDeviceGetUuid(void *out, int device) {
    memcpy(out, uuid, sizeof uuid);
    ((unsigned char *) out)[0] = (unsigned char) ((order()[device] - '0') << 4);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void) device;
    *value = attribute == ATTRIBUTE_INTEGRATED ? (int) setting("FAKE_CUDA_INTEGRATED") : 0;
    return 0;
}

/* Says in the script how much this process uses, in the place of what it said before. */
static void use(long bytes) {
    static long before = -1;
    const char *file = getenv("FAKE_CUDA_SCRIPT");
    FILE *script = file ? fopen(file, "r+") : NULL;
    if (!script) return;
    if (before < 0) {
        fseek(script, 0, SEEK_END);
        before = ftell(script);
    }
    if (ftruncate(fileno(script), before) == 0 && bytes >= 0) {
        fseek(script, before, SEEK_SET);
        fprintf(script, "device.0.compute=%d:%ld\n", (int) getpid(), bytes);
    }
    fclose(script);
}

int cuCtxCreate_v2(void **context, unsigned int flags, int device) {
    (void) flags;
    (void) device;
    use(setting("FAKE_CUDA_CONTEXT"));
    *context = (void *) uuid;
    return 0;
}

int cuCtxDestroy_v2(void *context) {
    (void) context;
    use(-1);
    return 0;
}

int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes) {
    long percent = setting("FAKE_CUDA_ALLOCATION_PERCENT");
    use(setting("FAKE_CUDA_CONTEXT") + (long) bytes * (percent ? percent : 100) / 100);
    *pointer = 1;
    return 0;
}

int cuMemFree_v2(unsigned long long pointer) {
    (void) pointer;
    use(setting("FAKE_CUDA_CONTEXT"));
    return 0;
}
