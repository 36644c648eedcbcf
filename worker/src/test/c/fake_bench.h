/*
 * What -DBENCH keeps of the script for whole devices, in the place of reading it for each question: it is the cost of
 * whoever asks that is to be measured. Every call succeeds. Included by fake_nvml.c.
 */
static struct {
    int has_memory;
    unsigned long long memory[4];
    struct {
        int is_known;
        unsigned int count;
        process_info infos[256];
    } lists[2];
} bench[DEVICES];

/* As processes() found it the first time; -1 where that is still to be done. */
static int bench_processes(int index, const char *field, unsigned int *count, process_info *infos) {
    int kind = *field == 'g';
    if (index >= DEVICES || !bench[index].lists[kind].is_known) return -1;
    unsigned int found = bench[index].lists[kind].count, room = *count;
    *count = found;
    if (found > room) return INSUFFICIENT_SIZE;
    memcpy(infos, bench[index].lists[kind].infos, found * sizeof *infos);
    return SUCCESS;
}

static void bench_keep_processes(int index, const char *field, unsigned int count, const process_info *infos) {
    int kind = *field == 'g';
    if (index >= DEVICES || count > 256) return;
    if (count) memcpy(bench[index].lists[kind].infos, infos, count * sizeof *infos);
    bench[index].lists[kind].count = count;
    bench[index].lists[kind].is_known = 1;
}

/* Total, reserved, used, free, which add up: other ones each time, or with -DSTEADY the same. */
static int bench_memory(int index, unsigned long long *out[4]) {
    if (index >= DEVICES || !bench[index].has_memory) return 0;
#ifdef STEADY
    unsigned long long more = 0;
#else
    static unsigned long long asked;
    unsigned long long more = (++asked % 64) << 20;
#endif
    for (int i = 0; i < 4; i++) *out[i] = bench[index].memory[i];
    *out[2] += more;
    *out[3] -= more;
    return 1;
}

static void bench_keep_memory(int index, unsigned long long *found[4]) {
    if (index >= DEVICES) return;
    for (int i = 0; i < 4; i++) bench[index].memory[i] = *found[i];
    bench[index].has_memory = 1;
}
