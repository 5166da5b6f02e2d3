import { seedsFrom } from '../support/depth.ts';
import { testWorlds } from './test-worlds.ts';

// Each world of services that report their calls once, with one of the two.
testWorlds(seedsFrom(1, 37, [28, 30, 31, 33, 35]), 'sqlite', 'batch-calling');
testWorlds(seedsFrom(1, 37, [29, 32, 34, 36]), 'sqlite', 'campaigns');
