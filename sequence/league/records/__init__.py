"""The records of a league: its journal, ratings, table and pictures.

May import `sequence.league.game` and `sequence.league.players`.
"""
