import { isFull, seedsFrom } from '../support/depth.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(seedsFrom(1, isFull ? 35 : 25), 'sqlite');
