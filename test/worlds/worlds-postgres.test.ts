import { isFull, seedFactor } from '../support/depth.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(301, 300 + (isFull ? 10 : 5) * seedFactor, 'postgres');
