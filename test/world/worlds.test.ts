import { seedsFrom } from '../support/depth.ts';
import { testWorlds } from './test-worlds.ts';

// Each world once, but for those of the files beside it.
testWorlds(seedsFrom(1, 35, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 26, 27, 28]), 'sqlite');
