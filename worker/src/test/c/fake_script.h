/*
 * The script that the fake libraries answer from: a JSON file, read anew for each question, so that a test may change
 * it at any time.
 *
 *     {"driver": "550.54.15", "count": 2,
 *      "rc": {"nvmlDeviceGetCount_v2": 0},
 *      "device": [{"uuid": "GPU-...", "memory": [24146608128, 541917184, 0, 23604690944]},
 *                 {"uuid": "GPU-...", "rc": {"nvmlDeviceGetMemoryInfo_v2": "hang"}}],
 *      "changes": [{"afterMillis": 2000, "set": {"device": {"1": {"rc": {"nvmlDeviceGetMemoryInfo_v2": 15}}}}},
 *                  {"afterCalls": 3, "of": "nvmlDeviceGetUUID", "set": {"count": 1, "device.0.uuid": "GPU-..."}}]}
 *
 * A value has a key: its names and places joined by dots, "device.1.rc.nvmlDeviceGetMemoryInfo_v2"; such a key may
 * stand for several levels. A list of numbers or texts is one value, joined by commas. A change is in force from then
 * on: so long after this process first asked, or with the call of that function that comes after so many; of two the
 * later in the list counts; null takes a value away. What the keys mean stands in fake_nvml.c and fake_cuda.c.
 *
 * A script that is not JSON ends the process: a test must not pass because of a comma.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SCRIPT_BYTES (1 << 18)
#define NO_VALUE "\x01"

/* The text that is read, where it is read, and the lines of "key=value" that come out. */
typedef struct {
    const char *file, *at;
    char *out;
    size_t length;
    char key[512];
} script_reader;

static struct {
    pthread_mutex_t lock;
    int size;
    struct {
        char name[64];
        int calls;
    } of[64];
} script_counts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Counts a call, for "afterCalls". */
__attribute__((unused)) static void script_called(const char *function) {
    int i = 0;
    pthread_mutex_lock(&script_counts.lock);
    while (i < script_counts.size && strcmp(script_counts.of[i].name, function)) i++;
    if (i == script_counts.size && i < 64)
        snprintf(script_counts.of[script_counts.size++].name, sizeof script_counts.of[0].name, "%s", function);
    if (i < 64) script_counts.of[i].calls++;
    pthread_mutex_unlock(&script_counts.lock);
}

static int script_calls(const char *function) {
    int calls = 0;
    pthread_mutex_lock(&script_counts.lock);
    for (int i = 0; i < script_counts.size; i++)
        if (!strcmp(script_counts.of[i].name, function)) calls = script_counts.of[i].calls;
    pthread_mutex_unlock(&script_counts.lock);
    return calls;
}

static long script_millis(void) {
    static long start;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long millis = now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (!start) start = millis;
    return millis - start;
}

static void script_wrong(script_reader *r, const char *what) {
    fprintf(stderr, "%s: not a script: %s at '%.20s'\n", r->file, what, r->at);
    _exit(90);
}

static char script_next(script_reader *r) {
    r->at += strspn(r->at, " \t\r\n");
    return *r->at;
}

static void script_expect(script_reader *r, char c) {
    if (script_next(r) != c) script_wrong(r, (char[]){c, ' ', 'i', 's', ' ', 'm', 'i', 's', 's', 'i', 'n', 'g', 0});
    r->at++;
}

/* Behind an entry: a comma and another one, or what closes it all. */
static void script_separate(script_reader *r, char closing) {
    if (script_next(r) == closing) return;
    script_expect(r, ',');
    if (script_next(r) == closing) script_wrong(r, "a comma too many");
}

static void script_put(script_reader *r, char c) {
    if (r->length + 2 > SCRIPT_BYTES) script_wrong(r, "it is too long");
    r->out[r->length++] = c;
    r->out[r->length] = 0;
}

/* A code point below 0x10000, as UTF-8. */
static void script_put_code(script_reader *r, unsigned int code) {
    if (code < 0x80) {
        script_put(r, (char) code);
    } else if (code < 0x800) {
        script_put(r, (char) (0xc0 | code >> 6));
        script_put(r, (char) (0x80 | (code & 0x3f)));
    } else {
        script_put(r, (char) (0xe0 | code >> 12));
        script_put(r, (char) (0x80 | (code >> 6 & 0x3f)));
        script_put(r, (char) (0x80 | (code & 0x3f)));
    }
}

/* A text, without its quotes, behind what there is. */
static void script_text(script_reader *r) {
    script_expect(r, '"');
    while (*r->at != '"') {
        if (!*r->at) script_wrong(r, "a text has no end");
        if (*r->at != '\\') {
            script_put(r, *r->at++);
            continue;
        }
        const char *from = "\"\\/bfnrt", *to = "\"\\/\b\f\n\r\t", *known = strchr(from, r->at[1]);
        unsigned int code;
        if (r->at[1] == 'u' && sscanf(r->at + 2, "%4x", &code) == 1) {
            script_put_code(r, code);
            r->at += 6;
        } else if (r->at[1] && known) {
            script_put(r, to[known - from]);
            r->at += 2;
        } else {
            script_wrong(r, "an unknown escape");
        }
    }
    r->at++;
}

static void script_scalar(script_reader *r) {
    if (script_next(r) == '"') {
        script_text(r);
        return;
    }
    size_t length = strcspn(r->at, ",]} \t\r\n");
    if (!length) script_wrong(r, "a value is missing");
    if (length == 4 && !strncmp(r->at, "null", 4)) {
        script_put(r, *NO_VALUE);
    } else if (length == 4 && !strncmp(r->at, "true", 4)) {
        script_put(r, '1');
    } else if (length == 5 && !strncmp(r->at, "false", 5)) {
        script_put(r, '0');
    } else if (strspn(r->at, "-0123456789") == length) {
        for (size_t i = 0; i < length; i++) script_put(r, r->at[i]);
    } else {
        script_wrong(r, "neither a text, a whole number, true, false nor null");
    }
    r->at += length;
}

static void script_key(script_reader *r) {
    for (const char *c = r->key; *c; c++) script_put(r, *c);
    script_put(r, '=');
}

static void script_value_of(script_reader *r);

/* Goes on with the key one level deeper. */
static void script_member(script_reader *r, const char *name) {
    size_t length = strlen(r->key);
    if (length + strlen(name) + 2 > sizeof r->key) script_wrong(r, "a key is too long");
    sprintf(r->key + length, "%s%s", length ? "." : "", name);
    script_value_of(r);
    r->key[length] = 0;
}

static void script_object(script_reader *r) {
    script_expect(r, '{');
    while (script_next(r) != '}') {
        char name[256];
        size_t before = r->length;
        script_text(r);
        snprintf(name, sizeof name, "%s", r->out + before);
        r->length = before;
        r->out[before] = 0;
        script_expect(r, ':');
        script_member(r, name);
        script_separate(r, '}');
    }
    r->at++;
}

static void script_list(script_reader *r) {
    script_expect(r, '[');
    int is_plain = script_next(r) != '{' && *r->at != '[';
    if (is_plain) script_key(r);
    for (int i = 0; script_next(r) != ']'; i++) {
        char place[16];
        snprintf(place, sizeof place, "%d", i);
        if (is_plain && i) script_put(r, ',');
        if (is_plain)
            script_scalar(r);
        else
            script_member(r, place);
        script_separate(r, ']');
    }
    if (is_plain) script_put(r, '\n');
    r->at++;
}

static void script_value_of(script_reader *r) {
    char first = script_next(r);
    if (first == '{') {
        script_object(r);
    } else if (first == '[') {
        script_list(r);
    } else {
        script_key(r);
        script_scalar(r);
        script_put(r, '\n');
    }
}

/* The first value of a key in the lines; 0 if it has none. */
static int script_find(const char *lines, const char *key, char *out, size_t size) {
    size_t length = strlen(key);
    for (const char *line = lines; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, length) == 0 && line[length] == '=') {
            snprintf(out, size, "%.*s", (int) strcspn(line + length + 1, "\n"), line + length + 1);
            return strcmp(out, NO_VALUE) != 0;
        }
    }
    return 0;
}

#ifdef BENCH
#define RECALLED 512

/* The same, looked for once: what is to be measured is who asks, not this. The lines stay as they are. */
static int script_recall(const char *lines, const char *key, char *out, size_t size) {
    static __thread struct { char *key, *value; } known[RECALLED];
    size_t slot = 5381;
    for (const char *c = key; *c; c++) slot = slot * 33 + (unsigned char) *c;
    for (slot %= RECALLED; known[slot].key && strcmp(known[slot].key, key); slot = (slot + 1) % RECALLED) continue;
    if (!known[slot].key) {
        static __thread char value[SCRIPT_BYTES];
        known[slot].value = script_find(lines, key, value, sizeof value) ? strdup(value) : NULL;
        known[slot].key = strdup(key);
    }
    if (known[slot].value) snprintf(out, size, "%s", known[slot].value);
    return known[slot].value != NULL;
}
#endif

/* Whether a change is in force. */
static int script_is_due(script_reader *r, const char *lines, int change) {
    char key[64], value[32], of[64];
    snprintf(key, sizeof key, "changes.%d.of", change);
    int is_counted = script_find(lines, key, of, sizeof of);
    snprintf(key, sizeof key, "changes.%d.%s", change, is_counted ? "afterCalls" : "afterMillis");
    if (!script_find(lines, key, value, sizeof value)) script_wrong(r, "a change without its time");
    return is_counted ? script_calls(of) > atol(value) : script_millis() >= atol(value);
}

/* Puts before the lines of the script those of each change that is in force, the newest first. */
static void script_changes(script_reader *r) {
    static __thread char lines[SCRIPT_BYTES];
    char key[64];
    int changes = 0;
    memcpy(lines, r->out, r->length + 1);
    r->length = 0;
    while (snprintf(key, sizeof key, "changes.%d.", changes), strstr(lines, key)) changes++;
    while (changes-- > 0) {
        snprintf(key, sizeof key, "changes.%d.set.", changes);
        if (!script_is_due(r, lines, changes)) continue;
        for (const char *line = lines; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
            for (size_t i = strlen(key); !strncmp(line, key, strlen(key)) && i <= strcspn(line, "\n"); i++)
                script_put(r, line[i]);
    }
    for (const char *c = lines; *c; c++) script_put(r, *c);
}

/* Reads the whole file; 0 if there is none. */
static int script_load(const char *file, char *text) {
    FILE *script = fopen(file, "r");
    if (!script) return 0;
    text[fread(text, 1, SCRIPT_BYTES - 1, script)] = 0;
    fclose(script);
    return 1;
}

/* The lines of a script, for the calling thread until it asks again; 0 if there is no such file. */
static const char *script_lines(const char *file) {
    static __thread char text[SCRIPT_BYTES], out[SCRIPT_BYTES];
    script_reader r = {file, text, out, 0, ""};
    script_millis();
    if (!script_load(file, text)) return NULL;
    *out = 0;
    script_object(&r);
    if (script_next(&r)) script_wrong(&r, "something stands behind it");
    if (strstr(out, "changes.0.")) script_changes(&r);
    return out;
}
