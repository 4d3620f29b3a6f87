/* Preloaded into a server: records which bytes would survive a power failure, and can make the disk slow.
 *
 * POWERCUT_LOG   a file that gets a line "<size> <path>" after each sync of a file: so many of its bytes are on the disk.
 * SLOW_DISK      a file with the duration of every sync in milliseconds; a running sync follows changes of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void record(int fd, long long size) {
  const char *log = getenv("POWERCUT_LOG");
  char link[64], path[4096], line[4300];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (!log || length <= 0) return;
  path[length] = 0;
  int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (out < 0) return;
  int n = snprintf(line, sizeof line, "%lld %s\n", size, path);
  if (write(out, line, n) != n) abort();
  close(out);
}

static int sync_duration_ms(void) {
  const char *name = getenv("SLOW_DISK");
  FILE *file = name ? fopen(name, "r") : NULL;
  int ms = 0;
  if (!file) return 0;
  if (fscanf(file, "%d", &ms) != 1) ms = 0;
  fclose(file);
  return ms;
}

static void delay(void) {
  for (int waited = 0; waited < sync_duration_ms(); waited += 10) usleep(10 * 1000);
}

static int synced(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  struct stat before;
  int known = fstat(fd, &before) == 0 && S_ISREG(before.st_mode);
  if (known) delay();
  int failed = real(fd);
  if (!failed && known) record(fd, before.st_size); /* bytes written during the sync may be lost */
  return failed;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
