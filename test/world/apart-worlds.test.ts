import { testWorlds } from './test-worlds.ts';

// The worlds in which calls can be told apart.
testWorlds([20, 21, 22, 23, 24], 'sqlite');
