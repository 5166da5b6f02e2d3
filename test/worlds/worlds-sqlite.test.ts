import { testWorlds } from './worlds-suite.ts';

testWorlds(1, 300, 'sqlite');
