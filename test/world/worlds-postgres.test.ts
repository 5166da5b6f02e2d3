import { isFull, seedsFrom } from '../support/depth.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(seedsFrom(301, isFull ? 10 : 5), 'postgres');
