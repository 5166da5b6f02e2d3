import { testWorlds } from './test-worlds.ts';

testWorlds([20, 21, 22, 23, 24], 'sqlite');
