/** Rooms from bottom to top, types included: outside itself a room imports what is on lines above its own, and nothing else. */
export const layers: readonly (readonly string[])[] = [
  ['src/rules'],
  ['src/shared'],
  ['src/service', 'src/list', 'src/ledger'],
  ['src/campaign', 'src/verify'],
  ['activities'],
  ['workflows'],
  ['src/temporal', 'src/presentation'],
  ['src/operations', 'src/sandbox'],
  ['src/interfaces/client', 'src/interfaces/api'],
  ['src/interfaces/console'],
  ['src/interfaces/cli'],
];

/** Folders that know less than their layer allows, and why. What is left of `/**` and all below it may import itself and these alone. */
export const closed: Readonly<Record<string, readonly string[]>> = {
  // The client and the help of the command line load it.
  'src/operations': [],
  'src/interfaces/client/**': ['src/operations', 'src/operations/schemas'],
  // Workflows are replayed: what they know is fixed with them.
  'workflows/**': ['activities', 'src/rules/**'],
  // The sandbox judges the product, and shares but the markup of its page with it.
  'src/sandbox/**': ['src/presentation/html'],
  'src/verify/**': ['src/ledger/**'],
};
