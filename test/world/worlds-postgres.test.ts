import { seedsFrom } from '../support/depth.ts';
import { testWorlds } from './test-worlds.ts';

// Worlds in which two workers may meet.
testWorlds(seedsFrom(15, 10, [15, 16, 17, 18, 19]), 'postgres');
