import { testWorlds } from './worlds-suite.ts';

testWorlds(151, 300, 'sqlite');
