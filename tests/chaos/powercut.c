/* Preloaded into a server: tells what a power cut would leave, and can make the disk slow.
 *
 * POWERCUT_LOG   a file that gets a line "<size> <path>" for every file that was synced: so much of it is on the disk.
 * SLOW_DISK      a file that holds how long every sync takes, in milliseconds; one that is under way follows it. */
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

static int slowness(void) {
  const char *name = getenv("SLOW_DISK");
  FILE *file = name ? fopen(name, "r") : NULL;
  int ms = 0;
  if (!file) return 0;
  if (fscanf(file, "%d", &ms) != 1) ms = 0;
  fclose(file);
  return ms;
}

static void dawdle(void) {
  for (int waited = 0; waited < slowness(); waited += 10) usleep(10 * 1000);
}

static int synced(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  struct stat before;
  int known = fstat(fd, &before) == 0 && S_ISREG(before.st_mode);
  if (known) dawdle();
  int failed = real(fd);
  if (!failed && known) record(fd, before.st_size); /* what came while it ran may be lost */
  return failed;
}

int fsync(int fd) { return synced("fsync", fd); }
int fdatasync(int fd) { return synced("fdatasync", fd); }
