/* The peer of the compile-speed claims: parses each file named on standard input with
 * tree-sitter and does nothing else. Prints the bytes parsed and the seconds that it took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_python(void);

static char *file_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long end = -1;

    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0) {
        rewind(file);
        bytes = malloc((size_t)end + 1);
    }
    if (bytes != NULL) {
        *size = fread(bytes, 1, (size_t)end, file);
    }
    fclose(file);
    return bytes;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(void)
{
    TSParser *parser = ts_parser_new();
    char path[4096];
    double started = now();
    size_t total = 0;

    if (!ts_parser_set_language(parser, tree_sitter_python())) {
        fprintf(stderr, "parse_only: the grammar's version is not the library's\n");
        return 1;
    }
    while (fgets(path, sizeof path, stdin) != NULL) {
        size_t size = 0;
        char *bytes;
        TSTree *tree;

        path[strcspn(path, "\n")] = '\0';
        bytes = file_read(path, &size);
        if (bytes == NULL) {
            fprintf(stderr, "parse_only: cannot read %s\n", path);
            return 1;
        }
        tree = ts_parser_parse_string(parser, NULL, bytes, (uint32_t)size);
        total += size;
        ts_tree_delete(tree);
        free(bytes);
    }
    printf("%zu %.6f\n", total, now() - started);
    ts_parser_delete(parser);
    return 0;
}
