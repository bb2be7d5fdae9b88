"""What a league keeps and shows: its journal, ratings, table and pictures.

May import `sequence.league.game` and `sequence.league.players`.
"""
