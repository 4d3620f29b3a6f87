/* Preloaded into a server: shifts its wall clock by the seconds in the file CLOCK_OFFSET, an integer of 8 bytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t offset(void) {
  static volatile int64_t *offset_s;
  static int is_opened;
  if (!is_opened) {
    is_opened = 1;
    const char *name = getenv("CLOCK_OFFSET");
    int fd = name ? open(name, O_RDONLY) : -1;
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) offset_s = map;
    if (fd >= 0) close(fd);
  }
  return offset_s ? *offset_s : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int failed = syscall(SYS_clock_gettime, clock, time);
  if (!failed && clock == CLOCK_REALTIME) time->tv_sec += offset();
  return failed;
}

int gettimeofday(struct timeval *time, void *zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
