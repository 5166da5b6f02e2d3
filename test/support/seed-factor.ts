/** `npm test` draws its seeds this many times. More takes minutes and finds more: `.ci/run` asks for three times as many. */
export const seedFactor = Number(process.env['SEED_FACTOR'] ?? 1);
