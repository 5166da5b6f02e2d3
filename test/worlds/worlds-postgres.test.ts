import { testWorlds } from './worlds-suite.ts';

testWorlds(301, 360, 'postgres');
