import { testWorlds } from './worlds-suite.ts';

testWorlds(1, 150, 'sqlite');
