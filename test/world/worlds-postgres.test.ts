import { seedsFrom } from '../support/depth.ts';
import { testWorlds } from './test-worlds.ts';

testWorlds(seedsFrom(15, 10, [15, 16, 17, 18, 19]), 'postgres');
