// Two functions that call back, for programs that unload or unmap them.
void through(void (*callback)(void)) {
  callback();
  __asm__ volatile("");
}

void through_other(void (*callback)(void)) {
  char room[200];
  __asm__ volatile("" ::"r"(room) : "memory");
  callback();
  __asm__ volatile("");
}
