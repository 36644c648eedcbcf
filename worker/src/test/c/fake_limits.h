/* The part of fake_nvml.c that limits the memory of a cgroup, as drivers from R615 on do. */

typedef struct {
    const char *name_space;
    unsigned long long soft, hard;
} set_limits;

typedef struct {
    const char *name_space;
    unsigned long long soft, hard, used;
} get_limits;

_Static_assert(sizeof(set_limits) == 24 && sizeof(get_limits) == 32, "nvmlSetMemoryLimits_v1_t");

#define NO_LIMIT (~0ULL)
static struct {
    int device;
    char name_space[1024];
    unsigned long long soft, hard;
} limited[64];

/* The entry of a cgroup; a new one has no limits. */
static int limit_entry(int device, const char *name_space) {
    int at = 0;
    while (*limited[at].name_space
            && (limited[at].device != device || strcmp(limited[at].name_space, name_space)))
        at++;
    if (!*limited[at].name_space) {
        limited[at].device = device;
        limited[at].hard = NO_LIMIT;
        snprintf(limited[at].name_space, sizeof limited[at].name_space, "%s", name_space);
    }
    return at;
}

static unsigned long long rounded(unsigned long long amount) {
    char step[64];
    unsigned long long by = value("limitstep", step, sizeof step) ? strtoull(step, NULL, 10) : 1;
    return amount == NO_LIMIT ? amount : (amount + by - 1) / by * by;
}

int nvmlDeviceSetMemoryLimits_v1(void *device, set_limits *limits) {
    int index, rc = device_code(device, "nvmlDeviceSetMemoryLimits_v1", &index);
    if (rc) return rc;
    if (index >= DEVICES) return NOT_SUPPORTED;
    if (access(limits->name_space, F_OK)) return NOT_FOUND;
    int at = limit_entry(index, limits->name_space);
    limited[at].soft = rounded(limits->soft);
    limited[at].hard = rounded(limits->hard);
    char line[1200];
    snprintf(line, sizeof line, "limits %llu %llu %s", limited[at].soft, limited[at].hard, limits->name_space);
    return code(line);
}

int nvmlDeviceGetMemoryLimits_v1(void *device, get_limits *limits) {
    char used[64];
    int index, rc = device_code(device, "nvmlDeviceGetMemoryLimits_v1", &index);
    if (rc) return rc;
    if (index >= DEVICES) return NOT_SUPPORTED;
    if (access(limits->name_space, F_OK)) return NOT_FOUND;
    int at = limit_entry(index, limits->name_space);
    limits->soft = limited[at].soft;
    limits->hard = limited[at].hard;
    limits->used = device_value(index, "limitused", used, sizeof used) ? strtoull(used, NULL, 10) : 0;
    return SUCCESS;
}
