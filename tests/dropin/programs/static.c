/* A program that no dynamic linker starts. */
int main(int argc, char **argv) {
  (void)argv;
  return argc;
}
