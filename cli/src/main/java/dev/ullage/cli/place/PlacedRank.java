package dev.ullage.cli.place;

/**
 * Where one rank goes.
 *
 * @param localRank from 0 on its node
 * @param index of its device on the node
 */
record PlacedRank(int rank, String node, int localRank, String uuid, int index) {}
